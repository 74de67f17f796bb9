// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.Test;

class SenderBuffersTest {

    private static final long LIMIT_BYTES = 1 << 20;

    private final Configuration taskManager =
            new Configuration()
                    .set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, new MemorySize(LIMIT_BYTES));

    @Test
    void shouldLimitAllSendersOfAProcessToTheTaskOffHeapMemory() {
        try (SenderBuffers first = SenderBuffers.reserve(LIMIT_BYTES - 1, taskManager)) {
            assertThatExceptionOfType(SuppressRestartsException.class)
                    .isThrownBy(() -> SenderBuffers.reserve(2, taskManager))
                    .havingCause()
                    .withMessageContaining("neededBytes=2, usedBytes=" + (LIMIT_BYTES - 1))
                    .withMessageContaining("taskmanager.memory.task.off-heap.size=" + LIMIT_BYTES)
                    .withMessageContaining(GpuJoinOptions.RING_SLOTS.key());
            SenderBuffers.reserve(1, taskManager).close();
            first.close();
        }
        SenderBuffers.reserve(LIMIT_BYTES, taskManager).close();
    }

    @Test
    void shouldHaveNoLimitOutsideATaskManager() {
        SenderBuffers.reserve(1L << 50, new Configuration()).close();
    }

    /** Flink loads each job with its own class loader. */
    @Test
    void shouldCountSendersOfOtherJobsInTheProcess() throws Exception {
        URL[] classes = {SenderBuffers.class.getProtectionDomain().getCodeSource().getLocation()};
        try (SenderBuffers own = SenderBuffers.reserve(LIMIT_BYTES, taskManager);
                var job = new ChildFirst(classes, getClass().getClassLoader())) {
            Class<?> others = job.loadClass(SenderBuffers.class.getName());
            assertThat(others).isNotSameAs(SenderBuffers.class);
            Method reserve = others.getDeclaredMethod("reserve", long.class, Configuration.class);
            reserve.setAccessible(true);
            assertThatThrownBy(() -> reserve.invoke(null, 1, taskManager))
                    .hasRootCauseInstanceOf(IllegalConfigurationException.class)
                    .hasStackTraceContaining("neededBytes=1, usedBytes=" + LIMIT_BYTES);
            own.close();
            try (AutoCloseable other = (AutoCloseable) reserve.invoke(null, 1, taskManager)) {
                assertThatExceptionOfType(SuppressRestartsException.class)
                        .isThrownBy(() -> SenderBuffers.reserve(LIMIT_BYTES, taskManager));
            }
        }
    }

    /** Loads this project's classes itself, as Flink's class loader of a job does. */
    private static final class ChildFirst extends URLClassLoader {

        ChildFirst(URL[] classes, ClassLoader parent) {
            super(classes, parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith(SenderBuffers.class.getPackageName())) {
                synchronized (getClassLoadingLock(name)) {
                    Class<?> loaded = findLoadedClass(name);
                    return loaded == null ? findClass(name) : loaded;
                }
            }
            return super.loadClass(name, resolve);
        }
    }
}
