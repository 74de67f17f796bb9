package io.github.gpujoin.core.engine;

/** An engine whose finished tables others can probe too, each for a thread of its own. */
public interface ForkableJoinEngine extends JoinEngine {

    /**
     * Another engine over this one's finished tables, with nothing in flight. The tables' memory
     * comes back when the last engine over them closes; they close in any order. Threads may fork
     * at the same time, as long as none closes this engine meanwhile.
     *
     * @throws IllegalStateException unless JOINING
     */
    ForkableJoinEngine fork();

    /**
     * An engine, LOADING, that takes build chunks of one dimension and shares the finished tables
     * of all others with this one, whose memory its {@link #stats()} leave out. What {@link
     * #fork()} says of memory and threads holds here too.
     *
     * @throws IllegalStateException unless JOINING
     * @throws EngineUnavailableException where there is no memory for it
     */
    ForkableJoinEngine forkLoading(int dimension);

    /**
     * Memory that tables in this place may still take, within the budget of this engine; what other
     * engines there take first is not in it any more.
     */
    long availableBytes();

    /**
     * Where tables stand. Engines with equal places can probe each other's tables; those of another
     * kind or device have another place. To be held no longer than the engine is open.
     */
    Object tablePlace();
}
