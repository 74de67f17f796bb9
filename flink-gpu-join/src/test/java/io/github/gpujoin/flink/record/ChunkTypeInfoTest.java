// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeInformationTestBase;
import org.junit.jupiter.api.Test;

class ChunkTypeInfoTest extends TypeInformationTestBase<ChunkTypeInfo> {

    @Override
    protected ChunkTypeInfo[] getTestData() {
        return new ChunkTypeInfo[] {
            ChunkTypeInfo.of(ChunkSerializerTest.KEYS),
            ChunkTypeInfo.of(ChunkSerializerTest.NAMES),
            ChunkTypeInfo.ofDimensions(List.of(ChunkSerializerTest.KEYS)),
            ChunkTypeInfo.ofDimensions(
                    List.of(ChunkSerializerTest.KEYS, ChunkSerializerTest.NAMES)),
            ChunkTypeInfo.ofFactsAndDimensions(
                    ChunkSerializerTest.KEYS, List.of(ChunkSerializerTest.NAMES))
        };
    }

    @Test
    void shouldTellItsSchema() {
        assertThat(ChunkTypeInfo.of(ChunkSerializerTest.KEYS).schema())
                .isEqualTo(ChunkSerializerTest.KEYS);
    }

    @Test
    void shouldHaveNoOneSchemaForDimensions() {
        ChunkTypeInfo type = ChunkTypeInfo.ofDimensions(List.of(ChunkSerializerTest.KEYS));

        assertThatThrownBy(type::schema)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "A stream of several dimensions does not have a single schema");
    }

    @Test
    void shouldRejectAJoinWithoutDimensions() {
        assertThatThrownBy(() -> ChunkTypeInfo.ofDimensions(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Number of schemas does not fit the form of the stream");
    }
}
