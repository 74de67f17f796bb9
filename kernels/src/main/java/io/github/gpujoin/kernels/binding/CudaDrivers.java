// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Opens devices, and loads JCuda once for each class loader of this class. Thread-safe. */
public final class CudaDrivers {

    private static final String IMAGE = "/io/github/gpujoin/kernels/engine.fatbin";

    /** Names of all kernels in the image. */
    static final List<String> KERNELS =
            List.of(
                    "gpujoin_serve",
                    "gpujoin_insert_unique",
                    "gpujoin_count_shard",
                    "gpujoin_insert_chained",
                    "gpujoin_group_count",
                    "gpujoin_group_allocate",
                    "gpujoin_group_write",
                    "gpujoin_payload_ranges",
                    "gpujoin_change_claim",
                    "gpujoin_change_settle",
                    "gpujoin_count_rows",
                    "gpujoin_move_rows",
                    "gpujoin_read_references",
                    "gpujoin_write_references");

    private static @Nullable Constructor<?> binding;

    /** Why JCuda could not be loaded. Kept, because a missing driver does not appear later. */
    private static @Nullable GpuUnavailableException refusal;

    private CudaDrivers() {}

    /**
     * Opens a device and loads all kernels.
     *
     * @param ordinal number of the device among those visible to the process, from 0
     * @return the open device, which the caller closes
     * @throws GpuUnavailableException if there is no driver, no such device, no kernel image for
     *     it, or not enough memory for its context
     */
    public static CudaDriver open(int ordinal) {
        byte[] image = image();
        try {
            return (CudaDriver) binding().newInstance(ordinal, image, KERNELS);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof GpuUnavailableException refusal) {
                throw refusal;
            }
            throw noDriver(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "JCudaBinding lacks the constructor (int, byte[], List).", e);
        }
    }

    /**
     * Returns the number of devices visible to the process.
     *
     * @throws GpuUnavailableException if there is no driver or no device
     */
    public static int deviceCount() {
        try {
            Method count = binding().getDeclaringClass().getDeclaredMethod("deviceCount");
            count.setAccessible(true);
            return (int) count.invoke(null);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof GpuUnavailableException refusal) {
                throw refusal;
            }
            throw noDriver(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("JCudaBinding lacks the method deviceCount().", e);
        }
    }

    /** Returns whether the class path contains the kernel image, built for whatever devices. */
    public static boolean hasKernelImage() {
        return CudaDrivers.class.getResource(IMAGE) != null;
    }

    private static byte[] image() {
        try (InputStream in = CudaDrivers.class.getResourceAsStream(IMAGE)) {
            if (in == null) {
                throw new GpuUnavailableException(
                        GpuFailure.NO_KERNEL_IMAGE,
                        "No GPU kernels in the jar: resource="
                                + IMAGE
                                + ". Build it where nvcc is installed.");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new GpuUnavailableException(
                    GpuFailure.NO_KERNEL_IMAGE,
                    "Kernel image cannot be read: resource=" + IMAGE,
                    e);
        }
    }

    /**
     * Loads JCuda with one class loader, and one copy of the native library, per loader of this
     * class.
     */
    private static synchronized Constructor<?> binding() {
        if (refusal != null) {
            throw refusal.copy();
        }
        if (binding == null) {
            BindingClassLoader loader = new BindingClassLoader(CudaDrivers.class.getClassLoader());
            try {
                Class.forName("jcuda.driver.JCudaDriver", true, loader);
                Class<?> type =
                        loader.loadClass(BindingClassLoader.BINDING_PREFIX + "JCudaBinding");
                Constructor<?> constructor =
                        type.getDeclaredConstructor(int.class, byte[].class, List.class);
                constructor.setAccessible(true);
                binding = constructor;
            } catch (ReflectiveOperationException | LinkageError e) {
                refusal = noDriver(e);
                throw refusal;
            } finally {
                loader.deleteCopies();
            }
        }
        return binding;
    }

    private static GpuUnavailableException noDriver(Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = String.valueOf(root.getMessage());
        String reason =
                message.lines()
                        .filter(line -> line.contains("libcuda"))
                        .findFirst()
                        .or(() -> message.lines().findFirst())
                        .orElse("");
        return new GpuUnavailableException(
                GpuFailure.NO_DRIVER,
                "CUDA driver cannot be loaded: library=libcuda.so.1, cause=%s. Install the NVIDIA driver."
                        .formatted(reason.strip()),
                cause);
    }
}
