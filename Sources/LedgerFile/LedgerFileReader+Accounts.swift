// SPDX-License-Identifier: Apache-2.0

import Commerce
import Ledger
import YAMLFile
import Yams

/// The sections `accounts`, `webhooks`, `limits` and `retention`.
extension LedgerFileReader {
    mutating func accounts(_ node: Node, into settings: inout LedgerAccountSettings) {
        for (key, value) in pairs(node) {
            switch key.text {
            case "jwt": settings.tokens = tokens(value)
            case "sandboxTesters": settings.sandboxTesters = texts(value)
            case "restore":
                let known = RestorePolicy.allCases.map(\.rawValue)
                if let policy = word(value, known).flatMap(RestorePolicy.init) {
                    settings.restore = policy
                }
            default: refuseKey(key, "`jwt`, `sandboxTesters` and `restore`")
            }
        }
    }

    private mutating func tokens(_ node: Node) -> LedgerAccountSettings.Tokens? {
        let fields = YAMLFields(pairs(node))
        note("accounts.jwt.jwks", fields["jwks"])
        check(fields, ["jwks", "issuer", "audience", "claim", "lifetimeSeconds"])
        let lifetime = fields["lifetimeSeconds"].flatMap {
            number($0, 1...86_400, "a token is valid for 1 to 86400 seconds")
        }
        for missing in ["jwks", "issuer", "audience"] where fields[missing] == nil {
            refuse(
                Self.line(node), "`jwt` has `jwks`, `issuer` and `audience`",
                "write `\(missing)` too")
        }
        for name in ["issuer", "audience", "claim"] {
            guard let text = value(name, fields),
                !text.unicodeScalars.allSatisfy(VisibleText.isAllowedInName)
            else { continue }
            refuse(
                fields.line(name),
                "`\(name)` has no invisible, control or bidirectional characters",
                "leave the character out")
        }
        let claim = value("claim", fields)
        guard let keySet = value("jwks", fields), let issuer = value("issuer", fields),
            let audience = value("audience", fields)
        else { return nil }
        let tokens = LedgerAccountSettings.Tokens(
            keySet: keySet, issuer: issuer, audience: audience, claim: claim,
            lifetimeSeconds: lifetime)
        if tokens.isAddress, let rule = Self.brokenRule(ofAddress: keySet) {
            refuse(fields.line("jwks"), rule, "write the address of the key set")
        }
        return tokens
    }

    /// A list, or one of them.
    mutating func webhooks(_ node: Node) -> [LedgerWebhookSettings] {
        let nodes = node.sequence.map { Array($0) } ?? [node]
        let webhooks = nodes.enumerated().compactMap { webhook($1, number: $0) }
        if Set(webhooks.map(\.url)).count < webhooks.count {
            refuse(Self.line(node), "each webhook has a `url` of its own", "remove one")
        }
        return webhooks
    }

    private mutating func webhook(_ node: Node, number: Int) -> LedgerWebhookSettings? {
        let fields = YAMLFields(pairs(node))
        for name in ["url", "secretFile"] { note("webhooks.\(number).\(name)", fields[name]) }
        check(fields, ["url", "secretFile", "ordered", "events"])
        for missing in ["url", "secretFile"] where fields[missing] == nil {
            refuse(
                Self.line(node), "a webhook has `url` and `secretFile`",
                "write `\(missing)` too")
        }
        let isOrdered = fields["ordered"].flatMap { flag($0) } ?? false
        var events: Set<WebhookEvent>?
        if let node = fields["events"] {
            let known = WebhookEvent.allCases.map(\.rawValue)
            for text in texts(node) where !known.contains(text) {
                refuse(
                    fields.line("events"), "there is no event `\(text)`",
                    "write " + known.joined(separator: ", "))
            }
            events = Set(texts(node).compactMap(WebhookEvent.init))
        }
        guard let url = value("url", fields), let file = value("secretFile", fields) else {
            return nil
        }
        if let rule = Self.brokenRule(ofAddress: url) {
            refuse(fields.line("url"), rule, "write the server's address")
            return nil
        }
        return LedgerWebhookSettings(
            url: url, secretFile: file, isOrdered: isOrdered, events: events)
    }

    mutating func limits(_ node: Node, into limits: inout CallLimits) {
        let rule = "a limit is 1 to 1000000 calls a second"
        for (key, value) in pairs(node) {
            switch key.text {
            case "perKey":
                if let calls = number(value, 1...1_000_000, rule) { limits.perKey = Int(calls) }
            case "perAccount":
                if let calls = number(value, 1...1_000_000, rule) {
                    limits.perAccount = Int(calls)
                }
            default: refuseKey(key, "`perKey` and `perAccount`")
            }
        }
    }

    mutating func retention(_ node: Node) -> LedgerRetention {
        let usual = LedgerRetention.usual
        var (notifications, audit) = (usual.notificationDays, usual.auditDays)
        for (key, value) in pairs(node) {
            switch key.text {
            case "notificationDays":
                notifications = days(value, LedgerRetention.notificationDaysMin) ?? notifications
            case "auditDays": audit = days(value, LedgerRetention.auditDaysMin) ?? audit
            default: refuseKey(key, "`notificationDays` and `auditDays`")
            }
        }
        return (try? LedgerRetention(notificationDays: notifications, auditDays: audit)) ?? usual
    }

    private mutating func days(_ node: Node, _ least: Int) -> Int? {
        let most = LedgerRetention.daysMax
        return number(
            node, Int64(least)...Int64(most), "it is kept for \(least) to \(most) days"
        ).map { Int($0) }
    }
}
