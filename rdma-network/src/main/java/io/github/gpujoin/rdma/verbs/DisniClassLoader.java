package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Defines DiSNI and the classes that use it anew, each time with a copy of libdisni of its own.
 *
 * <p>DiSNI loads its library by name from {@code java.library.path}, which is read once when the
 * JVM starts, and the JVM lets a library file be loaded by one class loader only. But it first asks
 * the class loader for the library, which is where the copy comes in. So neither the path nor
 * Flink's lib/ folder has to be prepared, and every job of a TaskManager has verbs. The copies are
 * deleted once they are loaded; the library goes when this loader is collected.
 */
final class DisniClassLoader extends ClassLoader {

    private static final String DISNI = "com.ibm.disni.";
    private static final String OWN = DisniClassLoader.class.getPackageName() + ".disni.";

    private final NativeLibrary library;
    private final List<Path> copies = new ArrayList<>();

    DisniClassLoader(ClassLoader parent, NativeLibrary library) {
        super(parent);
        this.library = library;
    }

    /** Deletes the library files; those loaded stay loaded. */
    void deleteCopies() throws IOException {
        for (Path copy : copies) {
            Files.deleteIfExists(copy);
            Files.deleteIfExists(copy.getParent());
        }
        copies.clear();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(DISNI) && !name.startsWith(OWN)) {
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

    @Override
    protected String findLibrary(String name) {
        if (!NativeLibrary.FILE_NAME.equals(System.mapLibraryName(name))) {
            return null;
        }
        try {
            Path copy = library.copyToPrivateFolder();
            copies.add(copy);
            return copy.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
