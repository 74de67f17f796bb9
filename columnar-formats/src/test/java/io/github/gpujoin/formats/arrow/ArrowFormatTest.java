// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import static io.github.gpujoin.formats.testing.FormatRows.read;
import static io.github.gpujoin.formats.testing.FormatRows.readInPieces;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeStampMicroVector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.compression.CompressionCodec;
import org.apache.arrow.vector.compression.CompressionUtil.CodecType;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ArrowWriter;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares what is read with what Arrow's own writers were given. */
class ArrowFormatTest {

    private static final int BATCHES = 7;
    private static final int BATCH_ROWS = 3_000;
    private static final int COLUMNS = 15;

    @TempDir Path folder;

    private final List<List<@Nullable Object>> rows = new ArrayList<>();

    private Path write(String kind, CodecType codec) throws IOException {
        Path file = folder.resolve("t.arrow");
        rows.clear();
        try (BufferAllocator allocator = new RootAllocator();
                Vectors vectors = new Vectors(allocator);
                OutputStream out = Files.newOutputStream(file);
                ArrowWriter writer = writer(kind, codec, vectors, out)) {
            Random random = new Random(3);
            writer.start();
            for (int batch = 0; batch < BATCHES; batch++) {
                for (int row = 0; row < BATCH_ROWS; row++) {
                    rows.add(vectors.set(row, batch * BATCH_ROWS + row, random));
                }
                vectors.root.setRowCount(BATCH_ROWS);
                writer.writeBatch();
            }
            writer.end();
        }
        return file;
    }

    private static ArrowWriter writer(
            String kind, CodecType codec, Vectors vectors, OutputStream out) {
        CompressionCodec.Factory factory =
                codec == CodecType.NO_COMPRESSION
                        ? NoCompressionCodec.Factory.INSTANCE
                        : CommonsCompressionFactory.INSTANCE;
        var channel = Channels.newChannel(out);
        DictionaryProvider provider =
                new DictionaryProvider.MapDictionaryProvider(vectors.dictionary);
        return kind.equals("file")
                ? new ArrowFileWriter(
                        vectors.root, provider, channel, null, IpcOption.DEFAULT, factory, codec)
                : new ArrowStreamWriter(
                        vectors.root, provider, channel, IpcOption.DEFAULT, factory, codec);
    }

    /** Vectors of all types, in the order of {@link #set}. */
    private static final class Vectors implements AutoCloseable {
        private static final DictionaryEncoding ENCODING =
                new DictionaryEncoding(1, false, new ArrowType.Int(32, true));
        private static final String[] COLORS = {"red", "green", "blue"};

        final BigIntVector id;
        final IntVector intN;
        final SmallIntVector small;
        final UInt4Vector uint;
        final BitVector flag;
        final Float4Vector real;
        final Float8Vector doubleN;
        final DateDayVector day;
        final TimeStampMicroVector time;
        final DecimalVector amount;
        final VarCharVector name;
        final LargeVarCharVector large;
        final VarBinaryVector bytesN;
        final FixedSizeBinaryVector fixed;
        final IntVector color;
        final ListVector list;
        final Dictionary dictionary;
        final VectorSchemaRoot root;

        Vectors(BufferAllocator allocator) {
            id = new BigIntVector("id", allocator);
            intN = new IntVector("int_n", allocator);
            small = new SmallIntVector("small", allocator);
            uint = new UInt4Vector("uint", allocator);
            flag = new BitVector("flag", allocator);
            real = new Float4Vector("real_value", allocator);
            doubleN = new Float8Vector("double_n", allocator);
            day = new DateDayVector("day", allocator);
            time = new TimeStampMicroVector("at_time", allocator);
            amount = new DecimalVector("amount", allocator, 15, 2);
            name = new VarCharVector("name", allocator);
            large = new LargeVarCharVector("large", allocator);
            bytesN = new VarBinaryVector("bytes_n", allocator);
            fixed = new FixedSizeBinaryVector("fixed", allocator, 3);
            color =
                    new IntVector(
                            "color",
                            new FieldType(true, new ArrowType.Int(32, true), ENCODING),
                            allocator);
            list = ListVector.empty("list", allocator);
            VarCharVector colors = new VarCharVector("colors", allocator);
            for (int i = 0; i < COLORS.length; i++) {
                colors.setSafe(i, COLORS[i].getBytes(StandardCharsets.UTF_8));
            }
            colors.setValueCount(COLORS.length);
            dictionary = new Dictionary(colors, ENCODING);
            list.addOrGetVector(FieldType.nullable(new ArrowType.Int(32, true)));
            root =
                    VectorSchemaRoot.of(
                            list, id, intN, small, uint, flag, real, doubleN, day, time, amount,
                            name, large, bytesN, fixed, color);
        }

        List<@Nullable Object> set(int row, long number, Random random) {
            boolean isNull = random.nextInt(3) == 0;
            long value = random.nextInt();
            byte[] text = ("row " + number).getBytes(StandardCharsets.UTF_8);
            id.setSafe(row, number);
            small.setSafe(row, (int) (value >> 16));
            uint.setSafe(row, (int) value);
            flag.setSafe(row, (int) (number % 2));
            real.setSafe(row, value / 3f);
            day.setSafe(row, (int) number);
            time.setSafe(row, value * 1000);
            amount.setSafe(row, BigDecimal.valueOf(value, 2));
            name.setSafe(row, text);
            large.setSafe(row, text);
            fixed.setSafe(row, new byte[] {'a', (byte) ('b' + number % 7), 'c'});
            color.setSafe(row, (int) (number % 3));
            if (isNull) {
                intN.setNull(row);
                doubleN.setNull(row);
                bytesN.setNull(row);
            } else {
                intN.setSafe(row, (int) value);
                doubleN.setSafe(row, value / 7.0);
                bytesN.setSafe(row, text, 0, (int) (number % 4));
            }
            return Arrays.asList(
                    number,
                    isNull ? null : (Long) (long) (int) value,
                    value >> 16,
                    value & 0xFFFFFFFFL,
                    number % 2,
                    (double) (value / 3f),
                    isNull ? null : (Double) (value / 7.0),
                    number,
                    value * 1000,
                    value,
                    "row " + number,
                    "row " + number,
                    isNull ? null : "row ".substring(0, (int) (number % 4)),
                    "a" + (char) ('b' + number % 7) + "c",
                    COLORS[(int) (number % 3)]);
        }

        @Override
        public void close() {
            root.close();
            dictionary.getVector().close();
        }
    }

    private static String[] columns() {
        return new String[] {
            "id",
            "int_n",
            "small",
            "uint",
            "flag",
            "real_value",
            "double_n",
            "day",
            "at_time",
            "amount",
            "name",
            "large",
            "bytes_n",
            "fixed",
            "color"
        };
    }

    private static ArrowFormat like(Path file, String... columns) throws IOException {
        return ArrowFormat.like(new org.apache.flink.core.fs.Path(file.toUri()), columns);
    }

    @ParameterizedTest
    @CsvSource({"file, NO_COMPRESSION", "file, ZSTD", "stream, NO_COMPRESSION", "stream, ZSTD"})
    void shouldReadWhatArrowWrote(String kind, CodecType codec) throws Exception {
        Path file = write(kind, codec);
        ArrowFormat format = like(file, columns());
        assertThat(format.schema().size()).isEqualTo(COLUMNS);
        assertThat(format.isSplittable()).isEqualTo(kind.equals("file"));
        assertThat(read(format, file)).isEqualTo(rows);
        for (long seed = 1; seed <= 3; seed++) {
            assertThat(readInPieces(format, file, new Random(seed))).isEqualTo(rows);
        }
    }

    @Test
    void shouldReadNullableColumnsAsArraysIfTheSchemaSaysSo() throws Exception {
        Path file = write("file", CodecType.NO_COMPRESSION);
        ArrowFormat format =
                ArrowFormat.of(
                        ChunkSchema.of(
                                Column.of("amount", ColumnType.INT64),
                                Column.of("small", ColumnType.INT64),
                                Column.of("uint", ColumnType.INT64),
                                Column.of("flag", ColumnType.INT8),
                                Column.of("id", ColumnType.INT64)));
        List<List<@Nullable Object>> expected = new ArrayList<>();
        for (List<@Nullable Object> row : rows) {
            expected.add(Arrays.asList(row.get(9), row.get(2), row.get(3), row.get(4), row.get(0)));
        }
        assertThat(read(format, file)).isEqualTo(expected);
        assertThat(readInPieces(format, file, new Random(5))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "int_n, INT32, Null in a column that is declared as not nullable: column=int_n",
        "absent, INT32, Column is not in the Arrow file: column=absent",
        "id, INT32, Column has another type in the Arrow file",
        "list, INT32, Column of an Arrow file is nested"
    })
    void shouldRejectWhatTheSchemaDoesNotAllow(String column, ColumnType type, String message)
            throws Exception {
        Path file = write("file", CodecType.NO_COMPRESSION);
        ArrowFormat format = ArrowFormat.of(ChunkSchema.of(Column.of(column, type)));
        assertThatThrownBy(() -> read(format, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("t.arrow");
    }

    @Test
    void shouldRejectTruncatedFiles() throws Exception {
        Path file = write("file", CodecType.NO_COMPRESSION);
        ArrowFormat format = like(file, "id");
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 3));
        assertThatThrownBy(() -> read(format, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Not an Arrow file, or damaged: file=")
                .hasMessageContaining("t.arrow");
        Path stream = write("stream", CodecType.NO_COMPRESSION);
        ArrowFormat streams = like(stream, "id");
        bytes = Files.readAllBytes(stream);
        Files.write(stream, Arrays.copyOf(bytes, bytes.length / 2));
        assertThatThrownBy(() -> read(streams, stream))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Cannot read a record batch of an Arrow file: file=")
                .hasMessageContaining("offset=");
    }

    @Test
    void shouldRejectAMessageThatIsLongerThanTheFileBeforeItReservesMemory() throws Exception {
        Path file = write("stream", CodecType.NO_COMPRESSION);
        ArrowFormat format = like(file, "id");
        byte[] bytes = Files.readAllBytes(file);
        int second = 8 + ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(second + 4, 0x7FFF_FF00);
        Files.write(file, bytes);
        assertThatThrownBy(() -> read(format, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("t.arrow")
                .hasMessageContaining("Message ends behind the file: messageBytes=2147483392");
    }

    /** Damage is refused with the file's name, or values differ; nothing else is thrown. */
    @ParameterizedTest
    @CsvSource({"file, NO_COMPRESSION", "file, ZSTD", "stream, NO_COMPRESSION"})
    void shouldReadDamagedFilesOrRejectThem(String kind, CodecType codec) throws Exception {
        Path file = write(kind, codec);
        ArrowFormat format = like(file, columns());
        byte[] bytes = Files.readAllBytes(file);
        Random random = new Random(5);
        int rejected = 0;
        for (int i = 0; i < 60; i++) {
            byte[] damaged = bytes.clone();
            int at =
                    switch (i % 3) {
                        case 0 -> random.nextInt(4000);
                        case 1 -> bytes.length - 1 - random.nextInt(2000);
                        default -> random.nextInt(bytes.length);
                    };
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            try {
                read(format, file);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("t.arrow");
                rejected++;
            }
        }
        assertThat(rejected).isPositive();
    }
}
