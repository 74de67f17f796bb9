package io.github.gpujoin.core.layout;

/** What a column holds, and how wide it is when it stands in a fixed-width column. */
public enum ColumnType {
    INT32(4),
    INT64(8),
    FLOAT32(4),
    FLOAT64(8),
    /** UTF-8 text; always carried. */
    STRING(0),
    /** Any bytes; always carried. */
    BYTES(0);

    private final int widthBytes;

    ColumnType(int widthBytes) {
        this.widthBytes = widthBytes;
    }

    /** Bytes a value, 0 where the width varies. */
    public int widthBytes() {
        return widthBytes;
    }

    public boolean isFixedWidth() {
        return widthBytes > 0;
    }

    public boolean isInteger() {
        return this == INT32 || this == INT64;
    }
}
