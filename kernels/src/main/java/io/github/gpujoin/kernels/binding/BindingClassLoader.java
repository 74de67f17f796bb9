// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

import io.github.gpujoin.core.natives.NativeClassLoader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Defines JCuda and the classes that call it.
 *
 * <p>JCuda extracts its native library to one fixed path, from which only one class loader can load
 * it. This loader copies the library to a temporary file of its own instead.
 */
final class BindingClassLoader extends NativeClassLoader {

    private static final String JCUDA_PREFIX = "jcuda.";

    /** Name prefix of the classes that call JCuda. */
    static final String BINDING_PREFIX = BindingClassLoader.class.getPackageName() + ".jcuda.";

    private static final String LIBRARY_FOLDER = "lib/";

    BindingClassLoader(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected boolean isOwn(String className) {
        return className.startsWith(JCUDA_PREFIX) || className.startsWith(BINDING_PREFIX);
    }

    @Override
    protected @Nullable Path copyLibrary(String fileName) throws IOException {
        try (InputStream in = getParent().getResourceAsStream(LIBRARY_FOLDER + fileName)) {
            if (in == null) {
                return null;
            }
            Path copy = Files.createTempDirectory("gpujoin-").resolve(fileName);
            Files.copy(in, copy);
            return copy;
        }
    }

    /** Hides the native libraries from JCuda, which would extract them to a shared path. */
    @Override
    public @Nullable URL getResource(String name) {
        return name.startsWith(LIBRARY_FOLDER) ? null : super.getResource(name);
    }
}
