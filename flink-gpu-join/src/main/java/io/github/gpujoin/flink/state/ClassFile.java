// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassReader;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.MethodVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/** The code of a class, method by method. */
final class ClassFile {

    /** Names of lambdas, accessors and anonymous classes, which compilers number. */
    private static final Pattern GENERATED = Pattern.compile(".*[$-]\\d.*");

    private static final int SKIP = ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES;

    private record Named(String name, String descriptor) {}

    private final String name;
    private final @Nullable ClassLoader loader;
    private final ClassReader reader;
    private final Map<Named, Integer> access = new HashMap<>();

    private ClassFile(String name, @Nullable ClassLoader loader, ClassReader reader) {
        this.name = name;
        this.loader = loader;
        this.reader = reader;
        reader.accept(
                new ClassVisitor(Opcodes.ASM9) {
                    @Override
                    public @Nullable MethodVisitor visitMethod(
                            int flags,
                            String method,
                            String descriptor,
                            @Nullable String signature,
                            String @Nullable [] exceptions) {
                        access.put(new Named(method, descriptor), flags);
                        return null;
                    }
                },
                SKIP);
    }

    /**
     * @param name with slashes
     * @param loader null for that of the platform
     * @throws IOException if the class file is missing, or its version is too new for ASM
     */
    static ClassFile of(String name, @Nullable ClassLoader loader) throws IOException {
        String resource = name + ".class";
        try (InputStream in =
                loader == null
                        ? ClassLoader.getSystemResourceAsStream(resource)
                        : loader.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException("Class file missing: " + resource);
            }
            return new ClassFile(name, loader, new ClassReader(in));
        } catch (IllegalArgumentException e) {
            throw new IOException("Cannot read " + resource + ": " + e.getMessage(), e);
        }
    }

    static boolean isGenerated(String name) {
        return GENERATED.matcher(name).matches();
    }

    String name() {
        return name;
    }

    @Nullable ClassLoader loader() {
        return loader;
    }

    /** Whether the class is of Java, of a language's runtime or of Flink. */
    boolean isLibrary() throws ClassNotFoundException {
        ClassLoader of = Class.forName(name.replace('/', '.'), false, loader).getClassLoader();
        return of == null
                || of == ClassLoader.getPlatformClassLoader()
                || name.startsWith("org/apache/flink/")
                || name.startsWith("scala/")
                || name.startsWith("kotlin/");
    }

    boolean isStatic(String method, String descriptor) {
        return (access.getOrDefault(new Named(method, descriptor), 0) & Opcodes.ACC_STATIC) != 0;
    }

    /**
     * The instructions of a method; empty if the class has no code of it.
     *
     * @param receiver whose fields the method reads, or null to ignore them
     */
    String text(String method, String descriptor, @Nullable Object receiver)
            throws IOException, ReflectiveOperationException {
        return new MethodText(this, receiver).of(method, descriptor);
    }

    /**
     * All methods, except constructors and those that compilers add.
     *
     * @param method name; null for all
     */
    String implementations(@Nullable String method, @Nullable Object receiver)
            throws IOException, ReflectiveOperationException {
        Map<String, String> texts = new TreeMap<>();
        for (Map.Entry<Named, Integer> each : access.entrySet()) {
            boolean isExcluded =
                    (each.getValue() & (Opcodes.ACC_BRIDGE | Opcodes.ACC_ABSTRACT)) != 0
                            || each.getKey().name.startsWith("<");
            if (!isExcluded && (method == null || each.getKey().name.equals(method))) {
                String descriptor = each.getKey().descriptor;
                texts.put(
                        each.getKey().name + descriptor,
                        text(each.getKey().name, descriptor, receiver));
            }
        }
        return String.join("", texts.values());
    }

    void accept(String method, String descriptor, MethodVisitor visitor) {
        reader.accept(
                new ClassVisitor(Opcodes.ASM9) {
                    @Override
                    public @Nullable MethodVisitor visitMethod(
                            int flags,
                            String visited,
                            String of,
                            @Nullable String signature,
                            String @Nullable [] exceptions) {
                        return visited.equals(method) && of.equals(descriptor) ? visitor : null;
                    }
                },
                SKIP);
    }
}
