package io.github.gpujoin.kernels.binding;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Defines JCuda and {@link JCudaBinding} anew, each time with a copy of JCuda's native library of
 * its own.
 *
 * <p>The JVM lets a library file be loaded by one class loader only, and JCuda extracts its library
 * to one fixed path: the second job of a TaskManager, in a class loader of its own, would fail.
 * JCuda first asks its class loader for the library, which is where the copy comes in. The copies
 * are deleted once they are loaded; the library goes when this loader is collected.
 */
final class BindingClassLoader extends ClassLoader {

    private static final String JCUDA_PREFIX = "jcuda.";
    private static final String BINDING =
            BindingClassLoader.class.getPackageName() + ".JCudaBinding";
    private static final String LIBRARY_FOLDER = "lib/";

    private final List<Path> copies = new ArrayList<>();

    BindingClassLoader(ClassLoader parent) {
        super(parent);
    }

    /** Deletes the library files; those loaded stay loaded. */
    void deleteCopies() {
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
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!isOwn(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private static boolean isOwn(String name) {
        return name.startsWith(JCUDA_PREFIX)
                || name.equals(BINDING)
                || name.startsWith(BINDING + "$");
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

    @Override
    protected String findLibrary(String name) {
        String file = System.mapLibraryName(name);
        try (InputStream in = getParent().getResourceAsStream(LIBRARY_FOLDER + file)) {
            if (in == null) {
                return null;
            }
            Path copy = Files.createTempDirectory("gpujoin-").resolve(file);
            copies.add(copy);
            Files.copy(in, copy);
            return copy.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the native library needs a writable temporary folder: library=" + name, e);
        }
    }

    /** Hides the libraries from JCuda, which would extract them to a shared path. */
    @Override
    public URL getResource(String name) {
        return name.startsWith(LIBRARY_FOLDER) ? null : super.getResource(name);
    }
}
