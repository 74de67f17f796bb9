package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.TransportException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips a test, with the sentence that says how to install it, where there is no UCX. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(EnabledIfUcx.Condition.class)
@interface EnabledIfUcx {

    /** Loads the libraries, once. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            try {
                UcxLibrary.load();
                return ConditionEvaluationResult.enabled("UCX is installed");
            } catch (TransportException e) {
                return ConditionEvaluationResult.disabled(e.getMessage());
            }
        }
    }
}
