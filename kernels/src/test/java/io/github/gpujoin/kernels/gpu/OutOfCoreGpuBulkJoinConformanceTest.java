// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Inputs that leave a device because it refuses the memory of the first run. */
@NeedsGpu
class OutOfCoreGpuBulkJoinConformanceTest extends BulkJoinConformance {

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        GpuOptions options =
                GpuOptions.defaults()
                        .withMemory(new MemoryBudget(256 << 20, MemoryBudget.BY_MACHINE));
        CudaDriver driver = CudaDrivers.open(0);
        boolean[] refuses = {false};
        CudaDriver refusing =
                (CudaDriver)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {CudaDriver.class},
                                (proxy, method, arguments) -> {
                                    if (refuses[0] && method.getName().equals("allocateDevice")) {
                                        refuses[0] = false;
                                        throw new GpuUnavailableException(
                                                GpuFailure.OUT_OF_DEVICE_MEMORY,
                                                "told to refuse: lengthBytes=" + arguments[0]);
                                    }
                                    try {
                                        return method.invoke(driver, arguments);
                                    } catch (InvocationTargetException e) {
                                        throw e.getCause();
                                    }
                                });
        BulkDevices device =
                BulkDevices.of(
                        DeviceGroup.of(new DeviceLease(refusing, options)),
                        options,
                        MemoryReservations.unlimited());
        BulkJoin join = new GpuBulkJoin(spec, device, null);
        refuses[0] = true;
        return join;
    }
}
