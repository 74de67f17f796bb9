// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.natives;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Defines selected classes anew, each time with a private copy of their native library.
 *
 * <p>The JVM loads a library file in one class loader only, so a second job in the same
 * TaskManager, with a class loader of its own, could not load it. The JVM first asks the class
 * loader for the path of the library; this class returns a new copy. The copies are deleted after
 * they are loaded. The library is unloaded when this loader is garbage-collected.
 */
public abstract class NativeClassLoader extends ClassLoader {

    private final List<Path> copies = new ArrayList<>();

    /**
     * @param parent contains the bytes of all classes and defines those that are not {@link #isOwn}
     */
    protected NativeClassLoader(ClassLoader parent) {
        super(parent);
    }

    /** Whether this loader defines the class. */
    protected abstract boolean isOwn(String className);

    /**
     * Copies a library to a new folder.
     *
     * @param fileName as {@link System#mapLibraryName} returns it
     * @return the copy, or null if this loader does not provide the library
     */
    protected abstract @Nullable Path copyLibrary(String fileName) throws IOException;

    /** Deletes the copies. Loaded libraries stay loaded. */
    public final void deleteCopies() {
        for (Path copy : copies) {
            try {
                Files.deleteIfExists(copy);
                Files.deleteIfExists(copy.getParent());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        copies.clear();
    }

    @Override
    protected final Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!isOwn(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        String resource = name.replace('.', '/') + ".class";
        try (InputStream in = getParent().getResourceAsStream(resource)) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Called by the JVM when a class of this loader loads a library by name. */
    @Override
    public final @Nullable String findLibrary(String name) {
        try {
            Path copy = copyLibrary(System.mapLibraryName(name));
            if (copy == null) {
                return null;
            }
            copies.add(copy);
            return copy.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Native library cannot be copied to a temporary folder. Set java.io.tmpdir:"
                            + " library="
                            + name,
                    e);
        }
    }
}
