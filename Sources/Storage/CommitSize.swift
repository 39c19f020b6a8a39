// SPDX-License-Identifier: Apache-2.0

/// The size of commits that work through any number of rows.
///
/// Such a commit holds locks that requests wait for, and a page of a list must
/// be able to hold what one commit has written. So work on many subjects is
/// divided into commits of this size. Commits that must be complete are not
/// divided: an import of a catalogue, which has limits of its own, and in
/// sandboxes a reset and a cleared history.
public enum CommitSize {
    /// The most customers, sessions, notifications or audit entries of one
    /// commit. The rows of one subject are few.
    public static let subjectsMax = 100
}
