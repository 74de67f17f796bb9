// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.Optional;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.TestProcessingTimeService;
import org.apache.flink.streaming.runtime.tasks.mailbox.Mail;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailboxImpl;
import org.apache.flink.streaming.util.MockStreamTask;
import org.apache.flink.streaming.util.MockStreamTaskBuilder;

/** What Flink runs on a task's thread beside its input: mails and processing-time timers. */
final class TaskThread {

    private final TaskMailbox mailbox = new TaskMailboxImpl(Thread.currentThread());

    private final TestProcessingTimeService timers = new TestProcessingTimeService();

    /** Creates Flink's task around the mailbox and the timers. */
    MockStreamTask<?, ?> task(SimulatedEnvironment environment, StreamConfig head)
            throws Exception {
        return new MockStreamTaskBuilder(environment)
                .setConfig(head)
                .setTaskMailbox(mailbox)
                .setTimerService(timers)
                .setTaskActionExecutor(StreamTaskActionExecutor.synchronizedExecutor(new Object()))
                .build();
    }

    /** Runs the timers that are due. */
    void advanceTimers() throws Exception {
        timers.setCurrentTime(VirtualTime.nowMs());
    }

    boolean hasDueTimer() {
        return nextTimerMs() <= VirtualTime.nowMs();
    }

    /** Returns when the next timer is due, or the largest number if there is none. */
    long nextTimerMs() {
        return timers.getActiveTimerTimestamps().stream()
                .mapToLong(Long::longValue)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    boolean hasMail() {
        return mailbox.hasMail();
    }

    /** Runs the mails that have arrived, but none that these add. */
    void runBatch() throws Exception {
        mailbox.createBatch();
        Optional<Mail> mail;
        while ((mail = mailbox.tryTakeFromBatch()).isPresent()) {
            mail.get().run();
        }
    }

    /** Runs mails until none is left. */
    void runAll() {
        Optional<Mail> mail;
        try {
            while ((mail = mailbox.tryTake(TaskMailbox.MIN_PRIORITY)).isPresent()) {
                mail.get().run();
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
