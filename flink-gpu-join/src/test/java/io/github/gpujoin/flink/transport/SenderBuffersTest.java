package io.github.gpujoin.flink.transport;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.flink.config.GpuJoinOptions;
import org.apache.flink.configuration.Configuration;
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
    void shouldKeepAllSendersOfAProcessWithinTheOffHeapMemoryOfItsTasks() {
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
    void shouldHaveNoLimitWhereTheProcessIsNoTaskManager() {
        SenderBuffers.reserve(1L << 50, new Configuration()).close();
    }
}
