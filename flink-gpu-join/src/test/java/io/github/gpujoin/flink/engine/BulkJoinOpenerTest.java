// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.kernels.gpu.GpuBulkJoinFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

class BulkJoinOpenerTest {

    private static final BulkJoinFactory GPU = new GpuBulkJoinFactory(GpuOptions.defaults());
    private static final BulkJoinFactory CPU = new CpuRadixJoinFactory(1);

    private static BulkJoinOpener opener(BulkJoinFactory... factories) {
        return new BulkJoinOpener(List.of(factories), true, Long.MAX_VALUE);
    }

    @Test
    void shouldTryGpuInFirstAttemptOnly() {
        BulkJoinOpener opener = opener(GPU, CPU);
        assertThat(opener.usable(0)).containsExactly(GPU, CPU);
        assertThat(opener.usable(1)).containsExactly(CPU);
    }

    @Test
    void shouldTryGpuAgainIfThereIsNoOtherImplementation() {
        assertThat(opener(GPU).usable(3)).containsExactly(GPU);
    }
}
