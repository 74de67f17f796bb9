// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Inputs that leave a device because it refuses the memory of the first run. */
@NeedsGpu
class OutOfCoreGpuBulkJoinConformanceTest extends SharedDeviceBulkConformance {

    private static final GpuOptions OPTIONS =
            GpuOptions.defaults().withMemory(new MemoryBudget(256 << 20, MemoryBudget.BY_MACHINE));

    private boolean refusesNext;

    OutOfCoreGpuBulkJoinConformanceTest() {
        super(OPTIONS);
    }

    @Override
    DeviceGroup openDevices() {
        CudaDriver driver = CudaDrivers.open(0);
        CudaDriver refusing =
                (CudaDriver)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {CudaDriver.class},
                                (proxy, method, arguments) -> call(driver, method, arguments));
        return DeviceGroup.of(new DeviceLease(refusing, OPTIONS));
    }

    private Object call(CudaDriver driver, Method method, Object[] arguments) throws Throwable {
        if (refusesNext && method.getName().equals("allocateDevice")) {
            refusesNext = false;
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY, "told to refuse: lengthBytes=" + arguments[0]);
        }
        try {
            return method.invoke(driver, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    BulkJoin create(BulkJoinSpec spec, BulkDevices devices) {
        refusesNext = false;
        BulkJoin join = super.create(spec, devices);
        refusesNext = true;
        return join;
    }
}
