// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.flink.filter.ProcessKeys.Keys;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.LongStream;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys of three subtasks of a join, which are all of its subtasks. */
class ProcessKeysTest extends FilterExchangeScenario {

    private static final int ALL = 3;

    private final String process = UUID.randomUUID().toString();
    private final ResultPartitionID partition = new ResultPartitionID();
    private final ProcessKeys keys = ProcessKeys.of(process, "generation", plan(MAX_BYTES));

    private final List<PublishedFilters> outputs = new ArrayList<>();

    @AfterEach
    void close() {
        outputs.forEach(PublishedFilters::close);
    }

    private Keys add(int subtask, Map<Integer, KeyFilterBuilder> parts) {
        PublishedFilters output = new PublishedFilters(process, "join", List.of(partition));
        outputs.add(output);
        return keys.add(
                id(join, subtask, 0),
                FilterResponse.ofSubtasks("generation", ALL, ALL),
                new Keys(new TreeMap<>(), parts),
                output);
    }

    private PublishedFilters.Published published() {
        return PublishedFilters.find(process, "join", List.of(partition));
    }

    private static Map<Integer, KeyFilterBuilder> part(long key) {
        return new TreeMap<>(Map.of(PARTS, keys(MAX_BYTES, LongStream.of(key))));
    }

    @Test
    void shouldMergeThePartsOfAllSubtasks() {
        assertThat(add(0, part(5))).isNull();
        assertThat(add(1, part(6))).isNull();
        assertThat(keys.areAwaited()).isTrue();

        assertThat(add(2, part(7)).parts()).containsOnlyKeys(PARTS);

        assertThat(keys.areAwaited()).isFalse();
        assertThat(published().areAll()).isTrue();
        DimensionFilter union = published().filters().get(0);
        assertThat(LongStream.range(0, 100).filter(union.keys()::mayAccept))
                .containsExactly(5L, 6L, 7L);
    }

    /** The memory of the process is exhausted. A union without the keys would be wrong. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldHaveNoKeysIfThoseOfASubtaskCannotBeMerged(int failing) {
        Keys complete = null;
        for (int subtask = 0; subtask < ALL; subtask++) {
            complete = add(subtask, subtask == failing ? new Exhausted() : part(subtask));
        }

        assertThat(complete).isEqualTo(Keys.NONE);
        assertThat(keys.areAwaited()).isFalse();
        assertThat(published()).isNull();
    }

    /** Keys of a dimension that cannot be read. */
    private static final class Exhausted extends TreeMap<Integer, KeyFilterBuilder> {

        private static final long serialVersionUID = 1L;

        Exhausted() {
            super(part(0));
        }

        @Override
        public KeyFilterBuilder get(Object dimension) {
            throw new OutOfMemoryError("test");
        }

        @Override
        public Set<Map.Entry<Integer, KeyFilterBuilder>> entrySet() {
            throw new OutOfMemoryError("test");
        }
    }
}
