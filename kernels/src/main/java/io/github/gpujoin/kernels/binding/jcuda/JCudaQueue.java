// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding.jcuda;

import static io.github.gpujoin.kernels.binding.jcuda.CudaCalls.check;

import io.github.gpujoin.kernels.binding.KernelQueue;
import java.util.Map;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** {@link KernelQueue} as a stream, with an event for each mark. */
final class JCudaQueue implements KernelQueue {

    private final CUcontext context;
    private final Map<String, CUfunction> kernels;
    private final CUstream stream = new CUstream();
    private final CUevent[] marks = new CUevent[MARKS];

    /**
     * @param kernels of the device by name
     * @param isUrgent whether waiting blocks of the queue precede those of other queues
     */
    JCudaQueue(CUcontext context, Map<String, CUfunction> kernels, boolean isUrgent) {
        this.context = context;
        this.kernels = kernels;
        enter();
        int[] least = new int[1];
        int[] greatest = new int[1];
        check(
                JCudaDriver.cuCtxGetStreamPriorityRange(least, greatest),
                "cuCtxGetStreamPriorityRange");
        check(
                JCudaDriver.cuStreamCreateWithPriority(
                        stream,
                        CUstream_flags.CU_STREAM_NON_BLOCKING,
                        isUrgent ? greatest[0] : least[0]),
                "cuStreamCreateWithPriority");
        try {
            for (int i = 0; i < MARKS; i++) {
                CUevent event = new CUevent();
                check(
                        JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING),
                        "cuEventCreate");
                marks[i] = event;
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private void enter() {
        check(JCudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    }

    @Override
    public void launch(
            String kernel, int blocks, int threads, int sharedBytes, long[]... arguments) {
        enter();
        launch(kernels.get(kernel), kernel, blocks, threads, sharedBytes, stream, arguments);
    }

    /** Queues a kernel on a stream of the current context. */
    static void launch(
            CUfunction function,
            String kernel,
            int blocks,
            int threads,
            int sharedBytes,
            CUstream stream,
            long[]... arguments) {
        if (sharedBytes > 0) {
            check(
                    JCudaDriver.cuFuncSetAttribute(
                            function,
                            CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                            sharedBytes),
                    "cuFuncSetAttribute sharedBytes=" + sharedBytes);
        }
        Pointer[] parameters = new Pointer[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            parameters[i] = Pointer.to(arguments[i]);
        }
        check(
                JCudaDriver.cuLaunchKernel(
                        function,
                        blocks,
                        1,
                        1,
                        threads,
                        1,
                        1,
                        sharedBytes,
                        stream,
                        Pointer.to(parameters),
                        null),
                "cuLaunchKernel " + kernel);
    }

    @Override
    public void mark(int mark) {
        enter();
        check(JCudaDriver.cuEventRecord(marks[mark], stream), "cuEventRecord");
    }

    @Override
    public void await(KernelQueue other, int mark) {
        enter();
        check(
                JCudaDriver.cuStreamWaitEvent(stream, ((JCudaQueue) other).marks[mark], 0),
                "cuStreamWaitEvent");
    }

    @Override
    public boolean isIdle() {
        enter();
        int result = JCudaDriver.cuStreamQuery(stream);
        if (result == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        check(result, "cuStreamQuery");
        return true;
    }

    /** Errors are ignored: these calls fail on a lost device, and no recovery is possible. */
    @Override
    public void close() {
        JCudaDriver.cuCtxSetCurrent(context);
        for (int i = 0; i < MARKS; i++) {
            if (marks[i] != null) {
                JCudaDriver.cuEventDestroy(marks[i]);
                marks[i] = null;
            }
        }
        JCudaDriver.cuStreamDestroy(stream);
    }
}
