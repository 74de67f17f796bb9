// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding.jcuda;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import jcuda.driver.CUresult;

/** Converts error codes of driver calls to exceptions. */
final class CudaCalls {

    private CudaCalls() {}

    /**
     * Checks the result of a call to a device that worked before.
     *
     * @throws GpuUnavailableException if the call failed; with DEVICE_LOST unless the code has a
     *     failure of its own
     */
    static void check(int result, String call) {
        check(result, GpuFailure.DEVICE_LOST, call);
    }

    /**
     * Checks the result of a call.
     *
     * @param otherwise the failure to report for codes without one of their own
     * @throws GpuUnavailableException if the call failed
     */
    static void check(int result, GpuFailure otherwise, String call) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new GpuUnavailableException(
                    failureOf(result, otherwise),
                    "CUDA driver call failed: call="
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
