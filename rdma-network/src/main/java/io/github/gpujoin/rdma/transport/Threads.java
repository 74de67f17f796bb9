package io.github.gpujoin.rdma.transport;

/** How transports end the threads that they started. */
public final class Threads {

    private Threads() {}

    /** Waits for a thread that was told to end; an interrupt is kept for the caller. */
    public static void joinUninterruptibly(Thread thread) {
        boolean isInterrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
