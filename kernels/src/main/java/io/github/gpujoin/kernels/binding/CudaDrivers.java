package io.github.gpujoin.kernels.binding;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.List;

/** Opens devices. */
public final class CudaDrivers {

    private static final String IMAGE = "/io/github/gpujoin/kernels/engine.fatbin";

    /** All kernels of the image. */
    static final List<String> KERNELS =
            List.of(
                    "gpujoin_serve",
                    "gpujoin_insert_unique",
                    "gpujoin_insert_chained",
                    "gpujoin_group_join",
                    "gpujoin_group_place",
                    "gpujoin_group_write",
                    "gpujoin_change_claim",
                    "gpujoin_change_settle",
                    "gpujoin_count_rows",
                    "gpujoin_move_rows",
                    "gpujoin_take_carried",
                    "gpujoin_put_carried");

    private static Constructor<?> binding;

    /** Why there is no binding: what the process lacks does not appear later. Null if not known. */
    private static GpuUnavailableException refusal;

    private CudaDrivers() {}

    /**
     * Opens a device with the module's kernels loaded.
     *
     * @param ordinal number of the device among those the process sees
     * @throws GpuUnavailableException where there is no driver, no such device or no kernel image
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
            throw new IllegalStateException("the binding has the constructor used here", e);
        }
    }

    /** Whether the jar holds kernels. */
    public static boolean hasKernelImage() {
        return CudaDrivers.class.getResource(IMAGE) != null;
    }

    private static byte[] image() {
        try (InputStream in = CudaDrivers.class.getResourceAsStream(IMAGE)) {
            if (in == null) {
                throw new GpuUnavailableException(
                        GpuFailure.NO_KERNEL_IMAGE,
                        "kernels are in the jar only if it was built where nvcc is: resource="
                                + IMAGE);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new GpuUnavailableException(
                    GpuFailure.NO_KERNEL_IMAGE,
                    "the kernel image must be readable: resource=" + IMAGE,
                    e);
        }
    }

    /** One loader, and one copy of the native library, for each loader of this class. */
    private static synchronized Constructor<?> binding() {
        if (refusal != null) {
            throw refusal.again();
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
                "a GPU needs the CUDA driver: library=libcuda.so.1, cause=" + reason.strip(),
                cause);
    }
}
