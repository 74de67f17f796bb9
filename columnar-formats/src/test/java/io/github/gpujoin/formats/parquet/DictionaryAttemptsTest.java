// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DictionaryAttemptsTest {

    @Test
    void shouldSkipRowGroupsAfterAFailedAttempt() {
        DictionaryAttempts attempts = new DictionaryAttempts(2);

        assertThat(attempts.next(1)).isTrue();
        attempts.failed(1);
        int skipped = 0;
        while (!attempts.next(1)) {
            skipped++;
        }

        assertThat(skipped).isEqualTo(15);
        assertThat(attempts.next(1)).isTrue();
    }

    @Test
    void shouldAttemptOtherColumnsMeanwhile() {
        DictionaryAttempts attempts = new DictionaryAttempts(2);

        attempts.failed(0);

        assertThat(attempts.next(1)).isTrue();
    }
}
