// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import io.github.gpujoin.core.natives.NativeClassLoader;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Defines DiSNI and the classes that use it.
 *
 * <p>DiSNI loads its library by name from {@code java.library.path}, which the JVM reads once at
 * its start. This loader supplies a copy of the library instead. So users need not prepare the path
 * or Flink's lib/ folder, and several jobs of a TaskManager can use verbs.
 */
final class DisniClassLoader extends NativeClassLoader {

    private static final String DISNI = "com.ibm.disni.";
    private static final String OWN = DisniClassLoader.class.getPackageName() + ".disni.";

    private final NativeLibrary library;

    DisniClassLoader(ClassLoader parent, NativeLibrary library) {
        super(parent);
        this.library = library;
    }

    @Override
    protected boolean isOwn(String className) {
        return className.startsWith(DISNI) || className.startsWith(OWN);
    }

    @Override
    protected @Nullable Path copyLibrary(String fileName) throws IOException {
        return NativeLibrary.FILE_NAME.equals(fileName) ? library.copyToPrivateFolder() : null;
    }
}
