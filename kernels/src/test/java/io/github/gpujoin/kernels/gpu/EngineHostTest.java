// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.EncodedColumnDescriptor;
import io.github.gpujoin.core.encoding.ValueEncoding;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Runs the checks of the device functions on the CPU, and compares their numbers with those of
 * Java. Skipped without a C++ compiler.
 */
class EngineHostTest {

    private static HostProgram program;

    @BeforeAll
    static void compile() throws Exception {
        program = HostProgram.compile(Path.of("src/test/cuda/engine_test.cpp"));
    }

    @Test
    void shouldPassAllChecks() throws Exception {
        assertThat(program.run("checks")).containsExactly("all checks passed");
    }

    @Test
    void shouldHashAndSumLikeJava() throws Exception {
        List<String> lines = program.run("values");
        byte[] bytes = new byte[8 * 1001];
        for (int i = 0; i <= 1000; i++) {
            String[] words = lines.get(i).split(" ");
            long key = Long.parseLong(words[0]);
            assertThat(Long.parseUnsignedLong(words[1])).isEqualTo(KeyHash.hash(key));
            long hash = SlotHash.hash(key, key + 1, 2 * key + 3);
            assertThat(Long.parseUnsignedLong(words[2])).isEqualTo(hash);
            assertThat(Integer.parseInt(words[3])).isEqualTo(SlotHash.slot(hash, 1000));
            Memory.putLong(bytes, Memory.BYTES + 8L * i, key);
        }
        long checksum = ChunkChecksum.of(bytes, Memory.BYTES, bytes.length);
        assertThat(lines.get(1001)).isEqualTo("checksum " + Long.toUnsignedString(checksum));
    }

    @Test
    void shouldLayOutStructsLikeJava() throws Exception {
        Map<String, Integer> compiled =
                program.run("layout").stream()
                        .map(line -> line.split("="))
                        .collect(Collectors.toMap(w -> w[0], w -> Integer.parseInt(w[1])));
        Map<String, Integer> expected = new TreeMap<>();
        expected.putAll(chunkHeader());
        expected.putAll(constants(StepDescriptor.class, "STEP", "StepEntry"));
        expected.putAll(constants(StepDescriptor.class, "COMPLETION", "Completion"));
        expected.putAll(constants(StepDescriptor.class, "CONTROL", "Control"));
        expected.putAll(constants(StepDescriptor.class, "GRID", "Grid"));
        expected.put("MAX_LANES", GridAllotment.MAX_LANES);
        expected.putAll(constants(PlanDescriptor.class, "PLAN", "Plan"));
        expected.putAll(constants(PlanDescriptor.class, "SHARD", "Shard"));
        expected.putAll(constants(PlanDescriptor.class, "DIMENSION", "Dimension"));
        expected.putAll(constants(BuildRunLayout.class, "RUNS", "BuildRuns"));
        expected.put("BuildColumn", BuildRunLayout.COLUMN_BYTES);
        expected.put("BuildColumn.runOffset", BuildRunLayout.COLUMN_RUN_OFFSET_OFFSET);
        expected.put("BuildColumn.rowOffset", BuildRunLayout.COLUMN_ROW_OFFSET_OFFSET);
        expected.put("BuildColumn.widthBytes", BuildRunLayout.COLUMN_WIDTH_OFFSET);
        expected.putAll(constants(GroupDescriptor.class, "FILTER", "Filter"));
        expected.putAll(constants(GroupDescriptor.class, "VALUE_RANGE", "ValueRange"));
        expected.putAll(constants(GroupDescriptor.class, "VALUE_SOURCE", "ValueSource"));
        expected.putAll(constants(GroupDescriptor.class, "AGGREGATE", "Aggregate"));
        expected.putAll(constants(GroupDescriptor.class, "AGGREGATION", "Aggregation"));
        for (JoinKind kind : JoinKind.values()) {
            expected.put(kind.name(), kind.ordinal());
        }
        for (RowChange change : RowChange.values()) {
            expected.put(change.name(), change.code());
        }
        expected.put("MAX_GROUP_COLUMNS", GroupDescriptor.MAX_GROUP_COLUMNS);
        expected.put("MAX_AGGREGATES", GroupDescriptor.MAX_AGGREGATES);
        expected.put("MAX_FACTORS", GroupDescriptor.MAX_FACTORS);
        expected.put("ADDED_PER_THREAD", GroupDescriptor.ADDED_PER_THREAD);
        expected.put("PayloadCopy", PlanDescriptor.COPY_BYTES);
        expected.put("PayloadCopy.resultOffset", PlanDescriptor.COPY_RESULT_OFFSET_OFFSET);
        expected.put("PayloadCopy.rowOffset", PlanDescriptor.COPY_ROW_OFFSET_OFFSET);
        expected.put("PayloadCopy.widthBytes", PlanDescriptor.COPY_WIDTH_OFFSET);
        expected.put("PayloadCopy.base", PlanDescriptor.COPY_BASE_OFFSET);
        expected.put("PayloadCopy.bits", PlanDescriptor.COPY_BITS_OFFSET);
        expected.putAll(constants(PlanDescriptor.class, "PAYLOAD_RANGE", "PayloadRange"));
        expected.put("PACKED_ROWS", PlanDescriptor.PACKED_ROWS);
        expected.put("Progress", PlanDescriptor.PROGRESS_BYTES);
        expected.put("KeySlot", PlanDescriptor.KEY_SLOT_BYTES);
        expected.put("MAX_DIMENSIONS", PlanDescriptor.MAX_DIMENSIONS);
        expected.put("MAX_FACT_COLUMNS", PlanDescriptor.MAX_FACT_COLUMNS);
        expected.put("ROW_KEY_OFFSET", PlanDescriptor.ROW_KEY_OFFSET);
        expected.put("ROW_NEXT_OFFSET", PlanDescriptor.ROW_NEXT_OFFSET);
        expected.put("ROW_PAYLOAD_OFFSET", PlanDescriptor.ROW_PAYLOAD_OFFSET);
        expected.put("CHUNK_MAGIC", ChunkDescriptor.MAGIC);
        expected.put("CHUNK_VERSION", ChunkDescriptor.VERSION);
        expected.putAll(encodedColumn());
        assertThat(compiled).containsExactlyInAnyOrderEntriesOf(expected);
    }

    private static Map<String, Integer> encodedColumn() {
        Map<String, Integer> expected = new TreeMap<>();
        expected.put("EncodedColumn", EncodedColumnDescriptor.ENTRY_BYTES);
        expected.put("EncodedColumn.encoding", EncodedColumnDescriptor.ENCODING_OFFSET);
        expected.put("EncodedColumn.valueBits", EncodedColumnDescriptor.VALUE_BITS_OFFSET);
        expected.put("EncodedColumn.runBits", EncodedColumnDescriptor.RUN_BITS_OFFSET);
        expected.put("EncodedColumn.widthBytes", EncodedColumnDescriptor.WIDTH_OFFSET);
        expected.put(
                "EncodedColumn.dictionarySize", EncodedColumnDescriptor.DICTIONARY_SIZE_OFFSET);
        expected.put("EncodedColumn.bodyOffset", EncodedColumnDescriptor.BODY_OFFSET_OFFSET);
        expected.put("EncodedColumn.bodyBytes", EncodedColumnDescriptor.BODY_LENGTH_OFFSET);
        expected.put("EncodedColumn.base", EncodedColumnDescriptor.BASE_OFFSET);
        expected.put("EncodedColumn.runCount", EncodedColumnDescriptor.RUN_COUNT_OFFSET);
        expected.put("EncodedColumn.reserved", EncodedColumnDescriptor.RESERVED_OFFSET);
        for (ValueEncoding encoding : ValueEncoding.values()) {
            expected.put(encoding.name(), encoding.ordinal());
        }
        expected.put("CHUNK_VERSION_WITH_FLAGS", ChunkDescriptor.VERSION_WITH_FLAGS);
        expected.put("CHUNK_ENCODED", ChunkDescriptor.ENCODED);
        expected.put("CHUNK_MANY_PARTITIONS", ChunkDescriptor.MANY_PARTITIONS);
        expected.put("NOT_IN_SEGMENT", Byte.toUnsignedInt(PlanDescriptor.NOT_IN_SEGMENT));
        expected.put("TILE_ROWS", EncodedColumnDescriptor.TILE_ROWS);
        expected.put("DECODED_COLUMN_BYTES", PlanDescriptor.DECODED_COLUMN_BYTES);
        expected.put("RUN_LENGTH", EncodedColumnDescriptor.RUN_LENGTH);
        expected.put("MAX_DICTIONARY_SIZE", EncodedColumnDescriptor.MAX_DICTIONARY_SIZE);
        expected.put("MAX_ENCODED_ROWS", GpuOptions.MAX_SEGMENT_ROWS);
        return expected;
    }

    private static Map<String, Integer> chunkHeader() {
        return Map.ofEntries(
                Map.entry("ChunkHeader", ChunkDescriptor.HEADER_BYTES),
                Map.entry("ChunkHeader.magic", ChunkDescriptor.MAGIC_OFFSET),
                Map.entry("ChunkHeader.version", ChunkDescriptor.VERSION_OFFSET),
                Map.entry("ChunkHeader.headerLength", ChunkDescriptor.HEADER_LENGTH_OFFSET),
                Map.entry("ChunkHeader.lengthBytes", ChunkDescriptor.LENGTH_OFFSET),
                Map.entry("ChunkHeader.rowCount", ChunkDescriptor.ROW_COUNT_OFFSET),
                Map.entry("ChunkHeader.schemaFingerprint", ChunkDescriptor.SCHEMA_OFFSET),
                Map.entry("ChunkHeader.dimension", ChunkDescriptor.DIMENSION_OFFSET),
                Map.entry("ChunkHeader.flags", ChunkDescriptor.FLAGS_OFFSET),
                Map.entry("ChunkHeader.partition", ChunkDescriptor.PARTITION_OFFSET),
                Map.entry("ChunkHeader.variableWidthOffset", ChunkDescriptor.VARIABLE_WIDTH_OFFSET),
                Map.entry("ChunkHeader.epoch", ChunkDescriptor.EPOCH_OFFSET),
                Map.entry("ChunkHeader.sequence", ChunkDescriptor.SEQUENCE_OFFSET),
                Map.entry("ChunkHeader.checksum", ChunkDescriptor.CHECKSUM_OFFSET),
                Map.entry("ChunkHeader.reserved", ChunkDescriptor.RESERVED_OFFSET));
    }

    /**
     * {@code PLAN_COLUMN_WIDTH_OFFSET} is {@code Plan.columnWidth}, {@code PLAN_BYTES} the size.
     */
    private static Map<String, Integer> constants(Class<?> type, String prefix, String struct) {
        return Stream.of(type.getDeclaredFields())
                .filter(field -> field.getName().startsWith(prefix + "_"))
                .collect(
                        Collectors.toMap(
                                field -> name(field.getName(), prefix, struct),
                                field -> {
                                    try {
                                        return field.getInt(null);
                                    } catch (IllegalAccessException e) {
                                        throw new AssertionError(e);
                                    }
                                }));
    }

    private static String name(String constant, String prefix, String struct) {
        String rest = constant.substring(prefix.length() + 1);
        if (rest.equals("BYTES")) {
            return struct;
        }
        StringBuilder field = new StringBuilder();
        for (String word : rest.replaceFirst("_OFFSET$", "").split("_")) {
            String lower = word.toLowerCase(Locale.ROOT);
            field.append(
                    field.isEmpty()
                            ? lower
                            : Character.toUpperCase(lower.charAt(0)) + lower.substring(1));
        }
        return struct + "." + field;
    }
}
