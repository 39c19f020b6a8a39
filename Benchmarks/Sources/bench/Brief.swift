// SPDX-License-Identifier: Apache-2.0

/// `--brief`: so little of everything that the figures say nothing, to see
/// that the benchmarks run.
enum Brief {
    static let isOn = CommandLine.arguments.contains("--brief")

    static func or<Value>(_ full: Value, brief: Value) -> Value { isOn ? brief : full }
}
