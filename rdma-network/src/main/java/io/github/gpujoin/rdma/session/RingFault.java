package io.github.gpujoin.rdma.session;

/**
 * What the JVM throws where mapped memory has no file behind it any more, and why.
 *
 * <p>A process of this user can truncate the file of a ring. The JVM turns the fault (SIGBUS) into
 * an {@link InternalError} at one of the thread's next safepoints, so it may surface a few calls
 * after the access. It concerns one ring: its session fails, and the thread lives on. It must not
 * leave a task as it is, since Flink ends the process on an InternalError.
 */
public final class RingFault {

    private RingFault() {}

    /** The sentence for people. */
    public static String describe(InternalError fault) {
        return "The ring's file was truncated or its memory failed: "
                + fault.getMessage()
                + ". Find out what changes files gpu-join-ring-* of this user.";
    }
}
