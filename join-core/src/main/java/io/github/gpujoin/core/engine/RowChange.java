package io.github.gpujoin.core.engine;

/** What a row of a dimension that changes does to the row of its key. */
public enum RowChange {
    /** It is the key's row from now on, whether there was one or not. */
    UPSERT,
    /** The key has no row from now on; but for the key, what the row holds is of no meaning. */
    DELETE;

    private static final RowChange[] ALL = values();

    /** As it stands in a {@linkplain DimensionSpec#changeColumn() column of changes}. */
    public int code() {
        return ordinal();
    }

    /**
     * @throws IllegalArgumentException where the code is none
     */
    public static RowChange of(int code) {
        if (code < 0 || code >= ALL.length) {
            throw new IllegalArgumentException(
                    "a row of a dimension that changes is an upsert (0) or a delete (1): code="
                            + code);
        }
        return ALL[code];
    }
}
