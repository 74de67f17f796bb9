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
     * Where tables stand. Engines with equal places can probe each other's tables; those of another
     * kind or device have another place. To be held no longer than the engine is open.
     */
    Object tablePlace();
}
