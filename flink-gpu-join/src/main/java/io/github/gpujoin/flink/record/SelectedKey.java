// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.jspecify.annotations.Nullable;

/** The key of whole records: where it is, and how it stands for an integer. */
public record SelectedKey<T, K>(KeySelector<T, K> selector, KeyLayout<K> layout)
        implements Serializable {

    /**
     * @throws IllegalArgumentException where a value of the type cannot be a key
     */
    public static <T, K> SelectedKey<T, K> of(
            KeySelector<T, K> selector, TypeInformation<K> type, KeyLayout.Nulls nulls) {
        return new SelectedKey<>(selector, KeyLayout.of(type, nulls));
    }

    /** See {@link KeyLayout#alignedWith}. */
    public SelectedKey<T, K> alignedWith(SelectedKey<?, ?> other) {
        return new SelectedKey<>(selector, layout.alignedWith(other.layout));
    }

    /** For one thread. */
    public Reader<T, K> reader() {
        return new Reader<>(selector, layout);
    }

    /** Reads the keys of records. Not thread-safe. */
    public static final class Reader<T, K> {
        private final KeySelector<T, K> selector;
        private final KeyEncoder<K> encoder;

        /** Getters of the key's parts; null if the selector must be called. */
        private final RecordShape.Getter<T> @Nullable [] parts;

        private final boolean hasOnlyTexts;
        private long integer;

        @SuppressWarnings("unchecked")
        private Reader(KeySelector<T, K> selector, KeyLayout<K> layout) {
            this.selector = selector;
            this.encoder = layout.encoder();
            List<RecordShape.Getter<T>> getters =
                    selector instanceof ColumnsKey<?> key
                            ? ((ColumnsKey<T>) key).partGetters()
                            : null;
            this.parts = getters == null ? null : getters.toArray(RecordShape.Getter[]::new);
            this.hasOnlyTexts =
                    parts != null
                            && layout.parts().stream().allMatch(part -> part == KeyPart.STRING);
        }

        /** Returns the integer of a record's key, or null if it matches nothing. */
        public @Nullable Number integer(T record) throws Exception {
            if (parts == null) {
                return encoder.encode(selector.getKey(record));
            }
            return encoder.read(parts, record) ? (Number) encoder.integer() : null;
        }

        /**
         * Reads the key of a record.
         *
         * @return whether the key can match, so that it has an {@link #integer()}
         */
        boolean read(T record) throws Exception {
            if (parts != null) {
                boolean canMatch = encoder.read(parts, record);
                integer = encoder.integer();
                return canMatch;
            }
            Number selected = encoder.encode(selector.getKey(record));
            integer = selected == null ? 0 : selected.longValue();
            return selected != null;
        }

        /** Returns the integer of the key that was {@link #read} last. */
        long integer() {
            return integer;
        }

        /** See {@link KeyEncoder#canonicalOfEncoded}. */
        KeyBytes canonicalOfEncoded() {
            return encoder.canonicalOfEncoded();
        }

        /** See {@link KeyEncoder#canonical}. */
        public byte[] canonical(T record) throws Exception {
            return parts == null
                    ? encoder.canonical(selector.getKey(record))
                    : encoder.canonical(parts, record);
        }

        /**
         * Whether both keys consist of texts, and these are equal as they are in the records, so
         * that the keys need not be encoded.
         */
        public <B> boolean hasEqualTexts(T record, Reader<B, ?> other, B otherRecord) {
            if (!hasOnlyTexts || !other.hasOnlyTexts) {
                return false;
            }
            for (int i = 0; i < parts.length; i++) {
                Object text = parts[i].get(record);
                if (text == null || !text.equals(other.parts[i].get(otherRecord))) {
                    return false;
                }
            }
            return true;
        }

        /** See {@link KeyEncoder#isCanonical}. */
        public boolean isCanonical(T record, byte[] canonical) throws Exception {
            return parts == null
                    ? encoder.isCanonical(selector.getKey(record), canonical)
                    : encoder.isCanonical(parts, record, canonical);
        }
    }
}
