package io.github.gpujoin.core.natives;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Defines some classes anew, each time with a copy of their native library of its own.
 *
 * <p>The JVM lets a library file be loaded by one class loader only, so the second job of a
 * TaskManager, in a class loader of its own, would fail. But it asks the class loader for the
 * library first, which is where the copy comes in. The copies are deleted once they are loaded; the
 * library goes when this loader is collected.
 */
public abstract class NativeClassLoader extends ClassLoader {

    private final List<Path> copies = new ArrayList<>();

    /**
     * @param parent which has the classes and defines all others
     */
    protected NativeClassLoader(ClassLoader parent) {
        super(parent);
    }

    /** Whether this loader defines the class. */
    protected abstract boolean isOwn(String className);

    /**
     * Copies a library to a folder of its own.
     *
     * @param fileName as {@link System#mapLibraryName} gives it
     * @return the copy, or null where the library is none of this loader's
     */
    protected abstract Path copyLibrary(String fileName) throws IOException;

    /** Deletes the library files; those loaded stay loaded. */
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

    /** For the JVM, which asks when a class of this loader loads a library by name. */
    @Override
    public final String findLibrary(String name) {
        try {
            Path copy = copyLibrary(System.mapLibraryName(name));
            if (copy == null) {
                return null;
            }
            copies.add(copy);
            return copy.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the native library needs a writable temporary folder: library=" + name, e);
        }
    }
}
