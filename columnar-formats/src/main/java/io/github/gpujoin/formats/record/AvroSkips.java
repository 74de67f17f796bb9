// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;

/** Makes functions that skip values of any type. Records may contain themselves. */
final class AvroSkips {

    /** Levels of values within values; a deeper value must not overflow the stack. */
    private static final int DEEPEST = 256;

    private final Map<Schema, Skip> records = new HashMap<>();

    /** Skips a value. */
    interface Skip {

        /**
         * @param depth levels of values around it
         */
        void apply(AvroCursor in, int depth) throws BadRecordException;
    }

    Skip of(Schema type) {
        return switch (type.getType()) {
            case NULL -> (in, depth) -> {};
            case BOOLEAN -> (in, depth) -> in.skip(1);
            case INT, LONG, ENUM -> (in, depth) -> in.readLong();
            case FLOAT -> (in, depth) -> in.skip(Float.BYTES);
            case DOUBLE -> (in, depth) -> in.skip(Double.BYTES);
            case STRING, BYTES -> (in, depth) -> in.skipBytes();
            case FIXED -> {
                int size = type.getFixedSize();
                yield (in, depth) -> in.skip(size);
            }
            case ARRAY -> blocks(of(type.getElementType()));
            case MAP -> {
                Skip value = of(type.getValueType());
                yield blocks(
                        (in, depth) -> {
                            in.skipBytes();
                            value.apply(in, depth);
                        });
            }
            case UNION -> union(type.getTypes().stream().map(this::of).toList());
            case RECORD -> record(type);
        };
    }

    private static Skip blocks(Skip item) {
        return (in, depth) -> {
            for (long count = in.readLong(); count != 0; count = in.readLong()) {
                if (count < 0) {
                    in.skip(in.readLong());
                    continue;
                }
                for (long i = 0; i < count; i++) {
                    int before = in.position();
                    item.apply(in, deeper(depth));
                    if (in.position() == before) {
                        break; // items without bytes, of which a few could claim any count
                    }
                }
            }
        };
    }

    private static Skip union(List<Skip> branches) {
        Skip[] skips = branches.toArray(Skip[]::new);
        return (in, depth) ->
                skips[requireBranch(in.readLong(), skips.length)].apply(in, deeper(depth));
    }

    /** Returns the number of a union's branch. */
    private static int requireBranch(long branch, int branches) throws BadRecordException {
        if (branch < 0 || branch >= branches) {
            throw new BadRecordException(
                    "Union has no such branch: branch=" + branch + ", branches=" + branches);
        }
        return (int) branch;
    }

    private Skip record(Schema type) {
        Skip known = records.get(type);
        if (known == null) {
            Skip[] fields = new Skip[type.getFields().size()];
            known =
                    (in, depth) -> {
                        for (Skip field : fields) {
                            field.apply(in, deeper(depth));
                        }
                    };
            records.put(type, known);
            for (int i = 0; i < fields.length; i++) {
                fields[i] = of(type.getFields().get(i).schema());
            }
        }
        return known;
    }

    private static int deeper(int depth) throws BadRecordException {
        if (depth == DEEPEST) {
            throw new BadRecordException("Values are nested too deeply: levels=" + depth);
        }
        return depth + 1;
    }
}
