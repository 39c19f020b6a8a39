// SPDX-License-Identifier: Apache-2.0

/// What happens to the notifications that a jump of a clock causes.
public enum JumpNotifications: String, Hashable, Sendable, CaseIterable {
    /// They are sent before the jump returns.
    case awaited = "await"
    /// They are sent after the jump has returned.
    case queued = "queue"
    /// They are never sent.
    case dropped = "drop"
}
