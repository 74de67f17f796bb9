// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.hybrid.testing.LoggedHybrid;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.HostDevice;
import io.github.gpujoin.kernels.gpu.NotOneGroupATake;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The tables of a partitioned dimension are on the second of two devices, which the CPU emulates
 * and which cannot access each other's memory.
 */
@ExtendWith(NotOneGroupATake.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PlacedHostDevicesConformanceTest extends JoinEngineConformance {

    private static final TableMemory SECOND_HAS_ROOM =
            new TableMemory(List.of(-1L, Long.MAX_VALUE), true, false);

    private HostDevice devices;

    @BeforeAll
    void openDevices() throws Exception {
        devices =
                HostDevice.open(
                        GpuOptions.defaults()
                                .withSlots(4, 1000)
                                .withDevices(List.of(0, 1))
                                .withPeerAccess(false));
    }

    @AfterAll
    void closeDevices() {
        if (devices != null) {
            assertThat(devices.steps(0)).as("steps of the first device").isZero();
            assertThat(devices.steps(1)).as("steps of the second device").isPositive();
            devices.close();
        }
    }

    @Override
    protected JoinEngineFactory factory() {
        return new LoggedHybrid(this::secondDevice, CpuJoinEngine::new);
    }

    private JoinEngine secondDevice(JoinSpec spec) {
        JoinEngine engine = devices.create(spec);
        return (JoinEngine)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {ForkableJoinEngine.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("tableMemory")) {
                                return SECOND_HAS_ROOM;
                            }
                            try {
                                return method.invoke(engine, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    @Override
    protected boolean appliesChanges() {
        return false;
    }
}
