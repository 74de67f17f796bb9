// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Opens devices, and loads JCuda once for each class loader of this class. Thread-safe. */
public final class CudaDrivers {

    private static @Nullable Constructor<?> binding;

    /** Why JCuda could not be loaded. Kept, because a missing driver does not appear later. */
    private static @Nullable GpuUnavailableException refusal;

    private CudaDrivers() {}

    /**
     * Opens a device and loads the kernels of the engine.
     *
     * @param ordinal number of the device among those visible to the process, from 0
     * @return the open device, which the caller closes
     * @throws GpuUnavailableException if there is no driver, no such device, no kernel image for
     *     it, or not enough memory for its context
     */
    public static CudaDriver open(int ordinal) {
        KernelImage.ENGINE.requirePresent();
        try {
            CudaDriver driver = (CudaDriver) binding().newInstance(ordinal);
            try {
                driver.load(KernelImage.ENGINE);
                return driver;
            } catch (Throwable e) {
                driver.close();
                throw e;
            }
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof GpuUnavailableException refusal) {
                throw refusal;
            }
            throw noDriver(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("JCudaBinding lacks the constructor (int).", e);
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
        return KernelImage.ENGINE.isPresent();
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
                Constructor<?> constructor = type.getDeclaredConstructor(int.class);
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
