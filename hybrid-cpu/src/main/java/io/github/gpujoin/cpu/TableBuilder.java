package io.github.gpujoin.cpu;

/** Makes a table of one kind, if the keys allow it, in steps. Closed after the last one. */
interface TableBuilder extends Work, AutoCloseable {

    /**
     * The table, after the last step; to be called once.
     *
     * @return null if the keys do not allow a table of that kind
     */
    CpuJoinTable table();

    @Override
    void close();
}
