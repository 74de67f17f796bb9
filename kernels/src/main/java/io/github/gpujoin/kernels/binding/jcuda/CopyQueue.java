// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding.jcuda;

import static io.github.gpujoin.kernels.binding.jcuda.CudaCalls.check;

import java.util.ArrayDeque;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * Numbers the host-to-device copies of a stream, and records an event behind each. Thread-safe; the
 * calling thread must have set the CUDA context.
 */
final class CopyQueue {

    private final CUstream stream;
    private final ArrayDeque<CUevent> pending = new ArrayDeque<>();
    private final ArrayDeque<CUevent> spare = new ArrayDeque<>();
    private long completedCount;

    /**
     * @param stream to be created before the first copy is started
     */
    CopyQueue(CUstream stream) {
        this.stream = stream;
    }

    synchronized long start(long deviceAddress, long pinnedAddress, long lengthBytes) {
        reap();
        CUevent event = spare.isEmpty() ? newEvent() : spare.pop();
        check(
                JCudaDriver.cuMemcpyHtoDAsync(
                        new DeviceAddress(deviceAddress),
                        new HostAddress(pinnedAddress),
                        lengthBytes,
                        stream),
                "cuMemcpyHtoDAsync lengthBytes=" + lengthBytes);
        check(JCudaDriver.cuEventRecord(event, stream), "cuEventRecord");
        pending.add(event);
        return completedCount + pending.size() - 1;
    }

    synchronized boolean hasCompleted(long copy) {
        if (copy >= completedCount) {
            reap();
        }
        return copy < completedCount;
    }

    private void reap() {
        while (!pending.isEmpty()) {
            int result = JCudaDriver.cuEventQuery(pending.peek());
            if (result == CUresult.CUDA_ERROR_NOT_READY) {
                return;
            }
            check(result, "cuEventQuery");
            spare.push(pending.remove());
            completedCount++;
        }
    }

    private static CUevent newEvent() {
        CUevent event = new CUevent();
        check(
                JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING),
                "cuEventCreate");
        return event;
    }

    synchronized void close() {
        pending.forEach(JCudaDriver::cuEventDestroy);
        spare.forEach(JCudaDriver::cuEventDestroy);
    }
}
