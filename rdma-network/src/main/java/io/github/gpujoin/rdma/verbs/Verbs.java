// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Opens RDMA devices. */
public final class Verbs {

    private static final String DISNI_PROVIDER = "com.ibm.disni.verbs.RdmaProvider";
    private static final String DEVICE = Verbs.class.getPackageName() + ".disni.DisniDevice";
    private static final String OPENED_PACKAGE = "sun.nio.ch";

    private static @Nullable ClassLoader loader;

    private Verbs() {}

    /**
     * Opens the device that has an address.
     *
     * @param localAddress IPv4 address of a network interface with an RDMA device
     * @throws VerbsException if the native library, a device, or a device with this address is
     *     missing
     */
    public static VerbsDevice open(InetAddress localAddress) throws IOException {
        ClassLoader disni = disni();
        RdmaHost.local().requireDevice();
        try {
            Constructor<?> constructor = disni.loadClass(DEVICE).getConstructor(InetAddress.class);
            return (VerbsDevice) constructor.newInstance(localAddress);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IllegalStateException("Opening an RDMA device failed", e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "Class has no matching constructor: class=" + DEVICE, e);
        }
    }

    /** Whether the jar contains the native library. */
    public static boolean hasNativeLibrary() {
        return NativeLibrary.isEmbedded();
    }

    /**
     * Returns the class loader of DiSNI: one, with one library copy, for each loader of this class.
     */
    static synchronized ClassLoader disni() throws IOException {
        if (loader == null) {
            loader = load(NativeLibrary.find());
        }
        return loader;
    }

    /**
     * Creates a class loader with DiSNI, and checks that its Java and native parts agree on version
     * and struct layouts.
     *
     * @throws VerbsException {@link VerbsFailure#CLOSED_JVM} or {@link VerbsFailure#NO_LIBRARY}
     */
    static ClassLoader load(NativeLibrary library) throws IOException {
        DisniClassLoader disni = new DisniClassLoader(Verbs.class.getClassLoader(), library);
        requireOpen(Object.class.getModule().isExported(OPENED_PACKAGE, disni.getUnnamedModule()));
        try {
            Class.forName(DISNI_PROVIDER, true, disni).getMethod("provider").invoke(null);
            return disni;
        } catch (InvocationTargetException e) {
            throw noLibrary(library, e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "DiSNI 2.1 is not on the class path: artifact=com.ibm.disni:disni:2.1. Add it.",
                    e);
        } finally {
            disni.deleteCopies();
        }
    }

    static void requireOpen(boolean isOpen) throws VerbsException {
        if (!isOpen) {
            throw new VerbsException(
                    VerbsFailure.CLOSED_JVM,
                    "JVM hides a package from DiSNI: package=%1$s. Start it with --add-opens=java.base/%1$s=ALL-UNNAMED (in Flink: env.java.opts.all)."
                            .formatted(OPENED_PACKAGE));
        }
    }

    private static VerbsException noLibrary(NativeLibrary library, Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (cause instanceof UncheckedIOException && root instanceof VerbsException failure) {
            return failure;
        }
        String reason = String.valueOf(root.getMessage()).lines().findFirst().orElse("");
        return new VerbsException(
                VerbsFailure.NO_LIBRARY,
                "Native library does not load: origin=%s, cause=%s. %s."
                        .formatted(library.origin(), reason, remedy(reason)),
                cause);
    }

    static String remedy(String reason) {
        if (reason.contains("cannot open shared object file")) {
            return "Install rdma-core's libraries: apt-get install libibverbs1 librdmacm1"
                    + " ibverbs-providers";
        }
        if (reason.contains("failed to map segment")) {
            return "The temporary folder forbids execution: point -Djava.io.tmpdir elsewhere";
        }
        if (reason.contains("jverbs outdated")) {
            return "Use the library of DiSNI 2.1";
        }
        return "The library is damaged or built for another machine";
    }
}
