// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.kernels.gpu.HostKernels;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassReader;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassWriter;
import org.apache.flink.shaded.asm9.org.objectweb.asm.MethodVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Opcodes;

/**
 * Loads the project's classes anew, with {@link VirtualTime} in place of the machine's clock. The
 * classes under test are otherwise those of the build.
 *
 * <p>Statics of the project, such as open local exchanges, belong to the loader: lives in different
 * threads do not meet. The GPU engine keeps the machine's clock.
 */
final class VirtualTimeLoader extends ClassLoader {

    private static final String PROJECT = "io.github.gpujoin.";

    /** The GPU engine, whose kernels run on threads of their own. */
    private static final List<String> IN_REAL_TIME =
            List.of("io/github/gpujoin/kernels/", HostGpu.class.getName().replace('.', '/'));

    /** One library of native methods serves all loaders. */
    private static final String KERNELS = HostKernels.class.getName();

    private static final String CLOCK = VirtualTime.class.getName().replace('.', '/');

    /** A call, as {@code owner.name descriptor}, and the descriptor of its replacement. */
    private static final Map<String, String> REPLACED =
            Map.of(
                    "java/lang/System.nanoTime()J",
                    "()J",
                    "java/lang/System.currentTimeMillis()J",
                    "()J",
                    "java/util/concurrent/locks/LockSupport.parkNanos(J)V",
                    "(J)V",
                    "java/lang/Thread.sleep(J)V",
                    "(J)V",
                    "java/util/concurrent/BlockingQueue.offer"
                            + "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z",
                    "(Ljava/util/concurrent/BlockingQueue;Ljava/lang/Object;J"
                            + "Ljava/util/concurrent/TimeUnit;)Z");

    static {
        registerAsParallelCapable();
    }

    VirtualTimeLoader(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(PROJECT) || name.equals(KERNELS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        String path = name.replace('.', '/');
        try (InputStream file = getParent().getResourceAsStream(path + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = hasRealTime(path) ? file.readAllBytes() : onVirtualTime(file);
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static boolean hasRealTime(String path) {
        return path.equals(CLOCK) || IN_REAL_TIME.stream().anyMatch(path::startsWith);
    }

    private static byte[] onVirtualTime(InputStream file) throws IOException {
        ClassReader reader = new ClassReader(file);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String type, String generic, String[] thrown) {
                        return new Calls(super.visitMethod(access, name, type, generic, thrown));
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static final class Calls extends MethodVisitor {

        Calls(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitMethodInsn(
                int opcode, String owner, String name, String type, boolean ofInterface) {
            String replacement = REPLACED.get(owner + "." + name + type);
            if (replacement == null) {
                super.visitMethodInsn(opcode, owner, name, type, ofInterface);
            } else {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, CLOCK, name, replacement, false);
            }
        }
    }
}
