// SPDX-License-Identifier: Apache-2.0

import Commerce
import Logging

/// The log of a server on standard error. It contains foreign addresses, names
/// and messages, so characters that control a terminal are made visible.
struct TerminalLog: LogHandler {
    private var lines: StreamLogHandler

    /// Makes a logger that writes there, from a level on.
    static func logger(_ label: String, _ level: Logger.Level) -> Logger {
        var logger = Logger(label: label) { Self(lines: .standardError(label: $0)) }
        logger.logLevel = level
        return logger
    }

    func log(event: LogEvent) {
        let visible = Self.visible(event)
        PrintQueue.log.add { [lines] in lines.log(event: visible) }
    }

    static func visible(_ event: LogEvent) -> LogEvent {
        var visible = event
        visible.message = "\(VisibleText.line(event.message.description))"
        visible.metadata = event.metadata.map { Self.visible($0) }
        return visible
    }

    var logLevel: Logger.Level {
        get { lines.logLevel }
        set { lines.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { lines.metadata }
        set { lines.metadata = Self.visible(newValue) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { lines[metadataKey: key] }
        set { lines[metadataKey: key] = newValue.map(Self.visible) }
    }

    private static func visible(_ metadata: Logger.Metadata) -> Logger.Metadata {
        metadata.mapValues(visible)
    }

    private static func visible(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
        switch value {
        case .string(let text): .string(VisibleText.line(text))
        case .stringConvertible(let value): .string(VisibleText.line(value.description))
        case .array(let values): .array(values.map(visible))
        case .dictionary(let values): .dictionary(values.mapValues(visible))
        }
    }
}
