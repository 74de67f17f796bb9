// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import java.util.List;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SourceConditionsTest {

    private static final List<ColumnCondition> CONDITIONS =
            List.of(
                    new ColumnCondition(
                            "quantity", new RangeCondition(ValueRanges.between(1, 25))));

    private final SourceConditions announced = new SourceConditions("attempt", "join");

    @AfterEach
    void withdraw() {
        announced.withdraw();
    }

    @Test
    void shouldBeKnownToTheSourceOfTheJoinInTheSameAttempt() {
        announced.announce(() -> CONDITIONS, () -> true);

        assertThat(new SourceConditions("attempt", "join").current()).isSameAs(CONDITIONS);
        assertThat(new SourceConditions("attempt", "join").areExpected()).isTrue();
        assertThat(new SourceConditions("attempt", "other").current()).isEmpty();
        assertThat(new SourceConditions("later attempt", "join").current()).isEmpty();
    }

    @Test
    void shouldBeUnknownBeforeAndAfterTheAnnouncement() {
        assertThat(announced.current()).isEmpty();
        announced.announce(() -> CONDITIONS, () -> true);
        announced.withdraw();
        announced.withdraw();

        assertThat(announced.current()).isEmpty();
        assertThat(announced.areExpected()).isFalse();
    }

    /** Metrics of tests name no attempt, so that two tasks could share an announcement. */
    @Test
    void shouldNotBeAnnouncedWithoutAnAttempt() {
        SourceConditions nowhere = SourceConditions.of("join", new UnregisteredMetricsGroup());
        nowhere.announce(() -> CONDITIONS, () -> true);

        assertThat(nowhere.current()).isEmpty();
    }
}
