// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FileDescriptorsTest {

    @Test
    void shouldDescribeAShortage() {
        assertThat(FileDescriptors.shortage(250, 256))
                .isEqualTo(
                        ".\nToo many open files in this process: open=250, limit=256. Raise ulimit"
                                + " -n");
    }

    @Test
    void shouldReturnAnEmptyStringWithEnoughDescriptors() {
        assertThat(FileDescriptors.shortage(250, 4_096)).isEmpty();
        assertThat(FileDescriptors.shortage()).isEmpty();
    }
}
