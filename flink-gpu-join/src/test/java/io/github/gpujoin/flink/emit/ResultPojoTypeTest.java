// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Instant;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

class ResultPojoTypeTest {

    /** Fields of every width, and objects that are shared or copied. */
    public static class Result {
        public long id;
        public int number;
        public short small;
        public char letter;
        public byte tiny;
        public boolean flag;
        public float ratio;
        public double value;
        public String text;
        public Integer boxed;
        public BigDecimal price;
        public Instant time;
        public byte[] image;
        public Inner inner;
        public String absent;
    }

    public static class Inner {
        public int depth;
    }

    public static class Detailed extends Result {
        public long detail;
    }

    public record Pair(long first, String second) {}

    private static final TypeInformation<Result> TYPE = ResultPojoType.of(Result.class);

    private static <T extends Result> T filled(T result) {
        result.id = Long.MIN_VALUE + 3;
        result.number = -7;
        result.small = -300;
        result.letter = '\u8a9e';
        result.tiny = -5;
        result.flag = true;
        result.ratio = 1.5f;
        result.value = -2.5;
        result.text = "text";
        result.boxed = 12;
        result.price = new BigDecimal("1.20");
        result.time = Instant.ofEpochSecond(5, 6);
        result.image = new byte[] {1, 2};
        result.inner = new Inner();
        result.inner.depth = 9;
        return result;
    }

    private static TypeSerializer<Result> serializer(TypeInformation<Result> type) {
        return type.createSerializer(new SerializerConfigImpl());
    }

    @Test
    void shouldCopyAllFieldsAndShareOnlyWhatCannotChange() throws Exception {
        Result result = filled(new Result());

        TypeSerializer<Result> serializer = InstantiationUtil.clone(serializer(TYPE).duplicate());
        Result copy = serializer.copy(result);

        assertThat(copy).isNotSameAs(result).usingRecursiveComparison().isEqualTo(result);
        assertThat(copy.text).isSameAs(result.text);
        assertThat(copy.image).isNotSameAs(result.image);
        assertThat(copy.inner).isNotSameAs(result.inner);
        assertThat(serializer.copy(result, new Result()))
                .usingRecursiveComparison()
                .isEqualTo(result);
    }

    @Test
    void shouldCopyWhatASubclassAdds() {
        Detailed result = filled(new Detailed());
        result.detail = 77;

        Result copy = serializer(TYPE).copy(result);

        assertThat(copy).isInstanceOf(Detailed.class);
        assertThat(((Detailed) copy).detail).isEqualTo(77);
        assertThat(copy).usingRecursiveComparison().isEqualTo(result);
    }

    @Test
    void shouldWriteAndRestoreWhatFlinksOwnSerializerDoes() throws Exception {
        TypeSerializer<Result> flinks = serializer(TypeInformation.of(Result.class));
        TypeSerializer<Result> ours = serializer(TYPE);
        DataOutputSerializer written = new DataOutputSerializer(64);
        DataOutputSerializer expected = new DataOutputSerializer(64);
        ours.serialize(filled(new Result()), written);
        flinks.serialize(filled(new Result()), expected);

        assertThat(written.getCopyOfBuffer()).isEqualTo(expected.getCopyOfBuffer());
        assertThat(ours.deserialize(new DataInputDeserializer(written.getCopyOfBuffer())))
                .usingRecursiveComparison()
                .isEqualTo(filled(new Result()));
        assertThat(
                        ours.snapshotConfiguration()
                                .resolveSchemaCompatibility(flinks.snapshotConfiguration())
                                .isCompatibleAsIs())
                .isTrue();
        assertThat(
                        flinks.snapshotConfiguration()
                                .resolveSchemaCompatibility(ours.snapshotConfiguration())
                                .isCompatibleAsIs())
                .isTrue();
    }

    @Test
    void shouldEqualTheTypeThatFlinkHasForTheClass() {
        assertThat(TYPE)
                .isEqualTo(TypeInformation.of(Result.class))
                .hasSameHashCodeAs(TypeInformation.of(Result.class))
                .hasToString(TypeInformation.of(Result.class).toString());
        assertThat(TypeInformation.of(Result.class)).isEqualTo(TYPE);
        assertThat(serializer(TYPE)).isEqualTo(serializer(ResultPojoType.of(Result.class)));
    }

    @Test
    void shouldLeaveOtherTypesToFlink() {
        assertThat(ResultPojoType.of(Pair.class)).isEqualTo(TypeInformation.of(Pair.class));
        assertThat(ResultPojoType.of(Object.class)).isInstanceOf(GenericTypeInfo.class);
    }
}
