package io.github.gpujoin.kernels.binding.jcuda;

import static io.github.gpujoin.kernels.binding.jcuda.CudaCalls.check;

import java.util.ArrayDeque;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * Numbers the copies of a stream, each with an event behind it. Thread-safe; the calling thread has
 * the context.
 */
final class CopyQueue {

    private final CUstream stream;
    private final ArrayDeque<CUevent> underWay = new ArrayDeque<>();
    private final ArrayDeque<CUevent> spare = new ArrayDeque<>();
    private long ended;

    /**
     * @param stream open before the first copy is started
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
        underWay.add(event);
        return ended + underWay.size() - 1;
    }

    synchronized boolean hasEnded(long copy) {
        if (copy >= ended) {
            reap();
        }
        return copy < ended;
    }

    private void reap() {
        while (!underWay.isEmpty()) {
            int result = JCudaDriver.cuEventQuery(underWay.peek());
            if (result == CUresult.CUDA_ERROR_NOT_READY) {
                return;
            }
            check(result, "cuEventQuery");
            spare.push(underWay.remove());
            ended++;
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
        underWay.forEach(JCudaDriver::cuEventDestroy);
        spare.forEach(JCudaDriver::cuEventDestroy);
    }
}
