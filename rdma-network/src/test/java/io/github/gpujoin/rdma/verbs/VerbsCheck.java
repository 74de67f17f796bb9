// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import io.github.gpujoin.core.region.Region;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;

/**
 * Checks verbs on a real device or on Soft-RoCE; bin/verify-rdma runs it. Prints a line "ok: ..."
 * for each check that passes, and ends with an exception otherwise.
 *
 * <pre>
 *   VerbsCheck receive ADDRESS PORT          serves until a writer ends it
 *   VerbsCheck write ADDRESS PEER PORT CASE...
 *   VerbsCheck refuse ADDRESS REACHABLE UNREACHABLE LOOPBACK
 *   VerbsCheck locked ADDRESS                with a locked-memory limit of 1.5 MiB
 *   VerbsCheck gpu ADDRESS                   exports simulated GPU memory, which is rejected
 *   VerbsCheck endpoints ADDRESS             DiSNI's own endpoints, both ends in this process
 * </pre>
 */
public final class VerbsCheck {

    /** System property: path of a library that is loaded as the CUDA driver. */
    private static final String CUDA_PROPERTY = "gpujoin.check.cuda";

    private VerbsCheck() {}

    public static void main(String[] args) throws Exception {
        String cuda = System.getProperty(CUDA_PROPERTY);
        if (cuda != null) {
            System.load(cuda);
        }
        switch (args[0]) {
            case "receive" ->
                    CheckReceiver.serve(InetAddress.getByName(args[1]), Integer.parseInt(args[2]));
            case "write" -> {
                CheckCase[] cases = new CheckCase[args.length - 4];
                for (int i = 0; i < cases.length; i++) {
                    cases[i] = CheckCase.valueOf(args[i + 4].toUpperCase(Locale.ROOT));
                }
                CheckWriter.write(
                        InetAddress.getByName(args[1]),
                        new InetSocketAddress(args[2], Integer.parseInt(args[3])),
                        cases);
            }
            case "refuse" -> {
                refuse(VerbsFailure.NO_CONNECTION, args[1], args[2]);
                refuse(VerbsFailure.NO_ROUTE, args[1], args[3]);
                refuse(VerbsFailure.NO_ROUTE, args[4], args[2]);
            }
            case "locked" -> locked(args[1]);
            case "gpu" -> gpu(args[1]);
            case "endpoints" -> endpoints(args[1]);
            default -> throw new IllegalArgumentException(args[0]);
        }
        if (Region.openCount() != 0) {
            throw new IllegalStateException("regions stay open: count=" + Region.openCount());
        }
    }

    static void ok(String format, Object... arguments) {
        System.out.println("ok: " + String.format(Locale.ROOT, format, arguments));
    }

    private static void refuse(VerbsFailure expected, String address, String peer)
            throws IOException {
        try (VerbsDevice device = Verbs.open(InetAddress.getByName(address))) {
            InetSocketAddress nobody = new InetSocketAddress(InetAddress.getByName(peer), 18_515);
            device.connect(nobody, 1, Duration.ofSeconds(5)).close();
        } catch (VerbsException e) {
            requireFailure(expected, e);
            return;
        }
        throw new IllegalStateException("nothing was refused: expected=" + expected);
    }

    /** The limit is checked before the call, or by the kernel if other regions count as well. */
    private static void locked(String address) throws IOException {
        int mebibyte = 1 << 20;
        try (VerbsDevice device = Verbs.open(InetAddress.getByName(address));
                Region region = Region.allocate(2 * mebibyte)) {
            requireTooLarge(device, region, 2 * mebibyte);
            try (Registration first =
                    device.register(region.address(), mebibyte, RemoteAccess.WRITE)) {
                requireTooLarge(device, region, mebibyte);
            }
        }
    }

    /**
     * Replaces GPU memory by a page of host memory and the CUDA driver by a test library. The page
     * is exported like GPU memory; Soft-RoCE rejects it, because it cannot use a dma-buf.
     */
    private static void gpu(String address) throws IOException {
        int pageBytes = 4096;
        try (VerbsDevice device = Verbs.open(InetAddress.getByName(address));
                Region region = Region.allocate(2 * pageBytes)) {
            long page = (region.address() + pageBytes - 1) & -pageBytes;
            int filesBefore = openFiles();
            try {
                device.register(
                                new GpuMemory(
                                        page, pageBytes - 8, GpuMemory.RegistrationMethod.DMA_BUF),
                                RemoteAccess.WRITE)
                        .close();
            } catch (VerbsException e) {
                if (!e.getMessage().contains("cause=ibv_reg_dmabuf_mr failed: errno=")) {
                    throw e;
                }
                requireFailure(VerbsFailure.FAILED_CALL, e);
                if (openFiles() != filesBefore) {
                    throw new IllegalStateException("the dma-buf stays open");
                }
                return;
            }
        }
        throw new IllegalStateException("Soft-RoCE has registered a dma-buf");
    }

    private static int openFiles() {
        return new File("/proc/self/fd").list().length;
    }

    private static void requireTooLarge(VerbsDevice device, Region region, int lengthBytes)
            throws IOException {
        try (Registration registration =
                device.register(region.address(), lengthBytes, RemoteAccess.WRITE)) {
            throw new IllegalStateException(
                    "a region beyond the limit was registered: lengthBytes="
                            + registration.lengthBytes());
        } catch (VerbsException e) {
            requireFailure(VerbsFailure.LOCKED_MEMORY, e);
        }
    }

    private static void requireFailure(VerbsFailure expected, VerbsException found)
            throws VerbsException {
        if (found.failure() != expected) {
            throw found;
        }
        ok("%s", found.getMessage());
    }

    /** Runs in the class loader with the native library, which defines DiSNI's classes. */
    private static void endpoints(String address) throws Exception {
        String name = VerbsCheck.class.getPackageName() + ".disni.EndpointCheck";
        Method run = Verbs.disni().loadClass(name).getMethod("run", String.class);
        try {
            ok("%s", run.invoke(null, address));
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
