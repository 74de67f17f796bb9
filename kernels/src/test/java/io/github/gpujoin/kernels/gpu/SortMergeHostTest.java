// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Parts of the sort-merge join that also compile for the CPU: splitters, plan, merge path. */
class SortMergeHostTest {

    @Test
    void shouldPassAllChecks() throws Exception {
        HostProgram program =
                HostProgram.compile(Path.of("src/test/cuda/sort_merge_host_test.cpp"));
        assertThat(program.run()).containsExactly("failures=0");
    }
}
