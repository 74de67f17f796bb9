package io.github.gpujoin.kernels.binding.jcuda;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import jcuda.driver.CUresult;

/** What results of driver calls mean. */
final class CudaCalls {

    private CudaCalls() {}

    /**
     * As {@link #check(int, GpuFailure, String)}, for calls to a device that worked before.
     *
     * @throws GpuUnavailableException with DEVICE_LOST, unless the result says something else
     */
    static void check(int result, String call) {
        check(result, GpuFailure.DEVICE_LOST, call);
    }

    /**
     * @param otherwise what a result means that does not speak for itself
     * @throws GpuUnavailableException unless the call succeeded
     */
    static void check(int result, GpuFailure otherwise, String call) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new GpuUnavailableException(
                    failureOf(result, otherwise),
                    "the CUDA driver refused a call: call="
                            + call
                            + ", result="
                            + CUresult.stringFor(result));
        }
    }

    private static GpuFailure failureOf(int result, GpuFailure otherwise) {
        return switch (result) {
            case CUresult.CUDA_ERROR_OUT_OF_MEMORY -> GpuFailure.OUT_OF_DEVICE_MEMORY;
            case CUresult.CUDA_ERROR_NO_DEVICE, CUresult.CUDA_ERROR_INVALID_DEVICE ->
                    GpuFailure.NO_DEVICE;
            case CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,
                    CUresult.CUDA_ERROR_INVALID_IMAGE,
                    CUresult.CUDA_ERROR_INVALID_PTX ->
                    GpuFailure.NO_KERNEL_IMAGE;
            default -> otherwise;
        };
    }
}
