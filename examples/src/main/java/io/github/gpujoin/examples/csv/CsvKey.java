package io.github.gpujoin.examples.csv;

import java.io.Serializable;
import org.apache.flink.api.java.functions.KeySelector;

/**
 * The key of a CSV file's records, null where the field is.
 *
 * @param type of both files' keys
 * @param column of the key
 */
record CsvKey(Type type, int column) implements KeySelector<String[], Long>, Serializable {

    /** What a key is compared as. */
    enum Type {
        INTEGER,
        /** By a hash of the text, so that equal hashes do not make equal keys. */
        TEXT
    }

    @Override
    public Long getKey(String[] record) {
        String key = record[column];
        if (key == null) {
            return null;
        }
        return type == Type.INTEGER ? Long.parseLong(key) : hash(key);
    }

    /** The text's hash code, not cut to 32 bits: texts that differ may have the same. */
    private static long hash(String text) {
        long hash = 0;
        for (int i = 0; i < text.length(); i++) {
            hash = 31 * hash + text.charAt(i);
        }
        return hash;
    }
}
