// SPDX-License-Identifier: Apache-2.0

import Commerce
import Ledger
import YAMLFile
import Yams

/// Reads a ledger's file and collects its problems. An unknown key is one, because
/// it would have no effect.
struct LedgerFileReader: YAMLReader {
    private(set) var problems: [LedgerFileProblem] = []
    /// The lines of settings, by their paths.
    private(set) var lines: [String: Int] = [:]

    /// Notes the line of a setting, and of each value of a list.
    mutating func note(_ setting: String, _ node: Node?) {
        guard let node else { return }
        lines[setting] = Self.line(node)
        for (index, value) in (node.sequence.map { Array($0) } ?? [node]).enumerated() {
            lines["\(setting).\(index)"] = Self.line(value)
        }
    }

    mutating func read(_ bytes: [UInt8], into file: inout LedgerFile) {
        guard
            let root = root(
                bytes, of: "a ledger's file", bytesMax: LedgerFile.bytesMax,
                whenEmpty: "write `products:` and what each grants")
        else { return }
        for (key, value) in pairs(root) {
            switch key.text {
            case "ledger": settings(value, into: &file.settings)
            case "products": file.grants = products(value)
            case "accounts": accounts(value, into: &file.accounts)
            case "limits": limits(value, into: &file.limits)
            case "webhooks": file.webhooks = webhooks(value)
            case "retention": file.retention = retention(value)
            default:
                refuseKey(
                    key, "`ledger`, `products`, `accounts`, `limits`, `webhooks` and `retention`")
            }
        }
    }

    // MARK: Products

    private mutating func products(_ node: Node) -> GrantRules {
        var products: [ProductID: [Grant]] = [:]
        let entries = pairs(node)
        if entries.count > LedgerFile.productsMax {
            refuse(
                Self.line(node), "a file has at most \(LedgerFile.productsMax) products",
                "remove some")
            return .none
        }
        for (key, value) in entries {
            let nodes = value.sequence.map { Array($0) } ?? [value]
            let before = problems.count
            let grants = nodes.compactMap { grant($0) }
            guard problems.count == before else { continue }
            if let rule = GrantRules.broken(by: grants) {
                refuse(key.line, rule, "correct the grants of `\(key.text)`")
            }
            products[ProductID(key.text)] = grants
        }
        guard problems.isEmpty, let rules = try? GrantRules(products) else { return .none }
        return rules
    }

    private mutating func grant(_ node: Node) -> Grant? {
        let fields = YAMLFields(pairs(node))
        let line = Self.line(node)
        guard (fields["entitlement"] == nil) != (fields["credits"] == nil) else {
            refuse(
                line, "a grant is an `entitlement` or `credits`",
                "write one of them with its name, and several grants as a list")
            return nil
        }
        return fields["credits"] == nil
            ? entitlement(fields, line) : credits(fields, line)
    }

    private mutating func entitlement(_ fields: YAMLFields, _ line: Int) -> Grant? {
        check(fields, ["entitlement", "lasts", "grace", "onReversal"])
        let name = name("entitlement", fields)
        let grace = fields["grace"].flatMap { flag($0) }
        let policy = reversal(fields, [.remove, .keep])
        guard let lasts = fields["lasts"] else {
            refuse(line, "an entitlement has `lasts`", "write forever, subscribed, or P1Y")
            return nil
        }
        guard let lasting = lasting(lasts, grace: grace ?? false), let name, let policy else {
            return nil
        }
        if grace != nil, case .subscription = lasting {
        } else if grace != nil {
            refuse(fields.line("grace"), "only `lasts: subscribed` has a grace", "remove it")
        }
        return Grant(name: name, kind: .entitlement(lasting), onReversal: policy)
    }

    private mutating func lasting(_ node: Node, grace: Bool) -> Grant.Lasting? {
        guard let text = text(node) else { return nil }
        switch text {
        case "forever": return .forever
        case "subscribed": return .subscription(grace: grace)
        default:
            if let period = Period(iso8601: text) { return .period(period) }
            refuse(
                Self.line(node),
                "it lasts forever, subscribed, or for a period of one unit up to 999",
                "write forever, subscribed, or a period such as P30D, P6M or P1Y")
            return nil
        }
    }

    private mutating func credits(_ fields: YAMLFields, _ line: Int) -> Grant? {
        check(fields, ["credits", "amount", "onReversal"])
        let name = name("credits", fields)
        let policy = reversal(fields, Grant.Reversal.allCases)
        guard let node = fields["amount"] else {
            refuse(line, "credits have an `amount` for each unit", "write `amount: 100`")
            return nil
        }
        let rule = "an amount is a whole number, 1 to \(Grant.perUnitMax)"
        guard let amount = number(node, 1...Grant.perUnitMax, rule), let name, let policy else {
            return nil
        }
        return Grant(name: name, kind: .credits(perUnit: amount), onReversal: policy)
    }

    private mutating func name(_ key: String, _ fields: YAMLFields) -> String? {
        guard let name = value(key, fields) else { return nil }
        if Grant.isName(name) { return name }
        refuse(
            fields.line(key),
            "a name has 1 to \(Grant.nameBytesMax) letters, digits, `.`, `-` and `_`",
            "choose such a name")
        return nil
    }

    private mutating func reversal(
        _ fields: YAMLFields, _ known: [Grant.Reversal]
    ) -> Grant.Reversal? {
        guard let word = value("onReversal", fields) else {
            return fields["onReversal"] == nil ? .remove : nil
        }
        if let policy = known.first(where: { $0.rawValue == word }) { return policy }
        refuse(
            fields.line("onReversal"),
            "`onReversal` is \(known.map(\.rawValue).joined(separator: " or "))",
            "write one of them, or leave it out for remove")
        return nil
    }
}

// MARK: Settings

extension LedgerFileReader {
    private mutating func settings(_ node: Node, into settings: inout LedgerSettings) {
        for (key, value) in pairs(node) {
            note("ledger.\(key.text)", value)
            switch key.text {
            case "trust": settings.trust = texts(value)
            case "trustReceipts": settings.trustReceipts = texts(value)
            case "trustStore": settings.trustStore = texts(value)
            case "rootFingerprint": settings.rootFingerprint = texts(value)
            case "bundleId": settings.bundleID = apps(value)
            case "appId":
                settings.appID = number(
                    value, 1...(1 << 53 - 1), "an app's number is 1 to 2^53 - 1")
            case "environment":
                settings.environment = texts(value).compactMap { environment($0, key) }
            case "host": settings.host = text(value)
            case "port":
                settings.port = number(value, 0...65_535, "a port is 0 to 65535").map { Int($0) }
            case "behindProxy": settings.behindProxy = texts(value)
            case "behindAnyProxy": settings.behindAnyProxy = flag(value)
            case "publicUrl": settings.publicURL = text(value)
            case "data": settings.data = text(value)
            case "database": settings.database = text(value)
            case "metricsKey": settings.metricsKey = text(value)
            case "onlineChecks": settings.onlineChecks = word(value, ["hard", "soft", "off"])
            case "logLevel":
                settings.logLevel = word(value, ["debug", "info", "notice", "warning", "error"])
            default:
                refuseKey(
                    key,
                    "the options of `ledger serve` in camel case, such as `bundleId` and `port`")
            }
        }
    }

    private mutating func apps(_ node: Node) -> [String] {
        let apps = texts(node)
        var known: Set<String> = []
        for (index, app) in apps.enumerated() where !known.insert(app).inserted {
            refuse(
                lines["ledger.bundleId.\(index)"] ?? Self.line(node),
                "`\(app)` is named once more", "name each app once")
        }
        return apps
    }

    private mutating func environment(_ word: String, _ key: YAMLKey) -> String? {
        if Environment(named: word) != nil { return word }
        refuse(
            key.line, "there is no environment `\(word)`",
            "write " + Environment.known.map(\.rawValue).joined(separator: ", "))
        return nil
    }
}

// MARK: Values

extension LedgerFileReader {
    /// One value, or a list of them.
    mutating func texts(_ node: Node) -> [String] {
        guard let sequence = node.sequence else { return text(node).map { [$0] } ?? [] }
        return sequence.compactMap { text($0) }
    }

    mutating func number(
        _ node: Node, _ range: ClosedRange<Int64>, _ rule: String
    ) -> Int64? {
        guard let text = text(node) else { return nil }
        if let number = Self.integer(text), range.contains(number) { return number }
        refuse(Self.line(node), rule, Self.integerRemedy)
        return nil
    }

    mutating func word(_ node: Node, _ known: [String]) -> String? {
        guard let word = text(node) else { return nil }
        if known.contains(word) { return word }
        refuse(
            Self.line(node), "there is no `\(word)` here",
            "write " + known.joined(separator: ", "))
        return nil
    }

    /// Returns the rule that the address of a merchant's server breaks, or nil. A ledger
    /// sends no user and no password, and would show them where it shows the address.
    static func brokenRule(ofAddress address: String) -> String? {
        guard address.utf8.count <= 2048, let scheme = address.firstRange(of: "://"),
            ["https", "http"].contains(address[..<scheme.lowerBound])
        else { return "a url begins with https:// or http://" }
        let server = address[scheme.upperBound...].prefix { !"/?#\\".contains($0) }
        if server.isEmpty { return "a url names a server" }
        return server.contains("@") ? "a url names no user and no password" : nil
    }

    mutating func refuse(_ line: Int, _ rule: String, _ remedy: String) {
        problems.append(LedgerFileProblem(line: line, rule: rule, remedy: remedy))
    }
}
