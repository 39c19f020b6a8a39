// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import StoreWire
import TestSupport
import Testing
import X509

@testable import SignedData

/// One JWS that Apple's library for Python and our model of it both judge.
struct OpinionCase: Sendable {
    let name: String
    let make: @Sendable () throws -> (compact: String, root: [UInt8])

    init(
        _ name: String, _ make: @escaping @Sendable () throws -> (compact: String, root: [UInt8])
    ) {
        self.name = name
        self.make = make
    }

    /// Signed with our leaf's key under our root.
    static func ours(
        _ name: String, _ make: @escaping @Sendable () throws -> String
    ) -> OpinionCase {
        OpinionCase(name) { (try make(), try Sample.authority().root) }
    }

    static func payload(_ json: String) -> OpinionCase {
        .ours("payload \(json)") {
            try Sample.sign(
                header: Tamper.header(certificates: Tamper.certificates(SpoiltJWS.good())),
                payload: Array(json.utf8))
        }
    }

    static func header(
        _ name: String, _ make: @escaping @Sendable ([String]) throws -> String
    ) -> OpinionCase {
        .ours("header \(name)") {
            try Sample.sign(header: make(Tamper.certificates(SpoiltJWS.good())))
        }
    }

    /// A chain with the key identifiers that the strict mode asks for.
    static func chain(
        _ name: String, _ change: @escaping @Sendable (inout ChainRecipe) throws -> Void
    ) -> OpinionCase {
        OpinionCase("chain \(name)") {
            var recipe = ChainRecipe.identified
            try change(&recipe)
            let chain = try recipe.chain()
            return (try recipe.signTransaction(chain), chain[2])
        }
    }

    static var all: [OpinionCase] {
        spoilt + chains + headers + payloads
    }

    /// What takes long, and what Python's JSON alone takes.
    private static let beyond = [
        "a header of ten megabytes", "a payload with half a surrogate pair",
    ]

    private static let spoilt =
        [OpinionCase.ours("good") { try SpoiltJWS.good() }]
        + SpoiltJWS.all.filter { !beyond.contains($0.testDescription) }.map { spoilt in
            .ours("spoilt \(spoilt.testDescription)") { try spoilt.make() }
        }

    private static let chains =
        ChangedChain.all.map { changed in
            OpinionCase("bare chain \(changed.testDescription)") {
                var recipe = ChainRecipe()
                try changed.change(&recipe)
                let chain = try recipe.chain()
                return (try recipe.signTransaction(chain), chain[2])
            }
        }
        + ChangedChain.all.map { changed in
            .chain(changed.testDescription) { recipe in
                let others = recipe.leaf.others
                try changed.change(&recipe)
                if recipe.leaf.others.count != others.count || recipe.leaf.others != others {
                    recipe.leaf.others = others + recipe.leaf.others
                }
            }
        } + [
            .chain("leaf without its issuer's key identifier") { $0.leaf.others = [] },
            .chain("intermediate without its own key identifier") {
                $0.intermediate.others.remove(at: 1)
            },
            .chain("intermediate without its issuer's key identifier") {
                $0.intermediate.others.remove(at: 0)
            },
            .chain("root without a key identifier") { $0.root.others = [] },
            .chain("another key identifier of the issuer") {
                $0.leaf.others = [try ChainRecipe.authorityIdentifier([1, 2, 3])]
            },
            .chain("leaf that may sign certificates") {
                $0.leaf.usage = KeyUsage(digitalSignature: true, keyCertSign: true)
            },
            .chain("critical extended key usage") {
                $0.leaf.others.append(
                    try Critical(ExtendedKeyUsage([.codeSigning])).makeCertificateExtension())
            },
        ]

    private static let headers: [OpinionCase] = [
        .header("without x5c") { _ in #"{"alg":"ES256"}"# },
        .header("with an empty x5c") { _ in #"{"alg":"ES256","x5c":[]}"# },
        .header("with x5c null") { _ in #"{"alg":"ES256","x5c":null}"# },
        .header("with x5c a number") { _ in #"{"alg":"ES256","x5c":3}"# },
        .header("with one certificate") { Tamper.header(certificates: [$0[0]]) },
        .header("with two certificates") { Tamper.header(certificates: Array($0.prefix(2))) },
        .header("with four certificates") { Tamper.header(certificates: $0 + [$0[2]]) },
        .header("with a junk third certificate") {
            Tamper.header(certificates: [$0[0], $0[1], "junk"])
        },
        .header("with a number for the third certificate") {
            Tamper.header(certificates: [$0[0], $0[1], "x"]).replacingOccurrences(
                of: "\"x\"", with: "7")
        },
        .header("with junk for the second certificate") {
            Tamper.header(certificates: [$0[0], "junk", $0[2]])
        },
        .header("with Base64 of nothing") { Tamper.header(certificates: ["", $0[1], $0[2]]) },
        .header("with doubled keys") {
            #"{"alg":"none","# + Tamper.header(certificates: $0).dropFirst()
        },
        .header("with a kid") {
            #"{"kid":"k","typ":"JWT","# + Tamper.header(certificates: $0).dropFirst()
        },
        .header("with a kid that is a number") {
            #"{"kid":7,"# + Tamper.header(certificates: $0).dropFirst()
        },
        .header("with crit") {
            #"{"crit":["b64"],"b64":true,"# + Tamper.header(certificates: $0).dropFirst()
        },
        .header("with crit null") {
            #"{"crit":null,"# + Tamper.header(certificates: $0).dropFirst()
        },
        .header("with an empty crit") {
            #"{"crit":[],"# + Tamper.header(certificates: $0).dropFirst()
        },
        .header("with alg missing") { _ in #"{"x5c":["a","b","c"]}"# },
        .header("of another algorithm without x5c") { _ in #"{"alg":"none"}"# },
    ]

    private static let told = #""bundleId":"com.example.monkeys","environment":"Sandbox""#

    private static let payloads: [OpinionCase] = [
        .payload("{\(told)}"),
        .payload("{\(told),\"signedDate\":1760000000000}"),
        .payload("{\(told),\"signedDate\":null}"),
        .payload("{\(told),\"signedDate\":\"x\"}"),
        .payload("{\(told),\"signedDate\":[]}"),
        .payload("{\(told),\"signedDate\":1.76e12}"),
        .payload("{\(told),\"signedDate\":0}"),
        .payload("{\(told),\"signedDate\":946684800000}"),
        .payload("{\(told),\"signedDate\":946684799999}"),
        .payload("{\(told),\"signedDate\":4102444799999}"),
        .payload("{\(told),\"signedDate\":4102444800000}"),
        .payload("{\(told),\"signedDate\":1760000000000,\"signedDate\":1760000000001}"),
        .payload("{\"bundleId\":\"a\",\(told)}"),
        .payload("{\(told),\"receiptCreationDate\":1760000000000}"),
        .payload("{\"environment\":\"Sandbox\",\"signedDate\":1760000000000}"),
        .payload("{\"bundleId\":\"a\",\"signedDate\":1760000000000}"),
        .payload("{\"bundleId\":\"a\",\"environment\":\"Moon\",\"signedDate\":1760000000000}"),
        .payload("{\"bundleId\":\"a\",\"environment\":\"Production\"}"),
        .payload("{\"bundleId\":\"a\",\"environment\":\"Xcode\"}"),
        .payload("{\"bundleId\":\"a\",\"environment\":\"LocalTesting\"}"),
        .payload("{\"bundleId\":\"a\",\"receiptType\":\"Xcode\"}"),
        .payload(
            "{\"bundleId\":\"a\",\"receiptType\":\"Sandbox\",\"receiptCreationDate\":1760000000000}"
        ),
        .payload("{\"bundleId\":\"a\",\"receiptType\":\"Production\"}"),
        .payload("{\"bundleId\":\"a\",\"receiptType\":\"Production\",\"appAppleId\":7}"),
        .payload("{\"autoRenewStatus\":1,\"environment\":\"Sandbox\"}"),
        .payload("{\"autoRenewStatus\":1}"),
        .payload("{\"notificationType\":\"TEST\"}"),
        .payload("{\"notificationType\":\"TEST\",\"data\":{\(told)}}"),
        .payload("{\"notificationType\":\"TEST\",\"data\":{\"environment\":\"Sandbox\"}}"),
        .payload("{\"notificationType\":\"TEST\",\"summary\":{\(told)}}"),
        .payload("{\"notificationType\":\"TEST\",\"appData\":{\(told)}}"),
        .payload(
            "{\"notificationType\":\"TEST\",\"data\":{\"bundleId\":\"a\","
                + "\"environment\":\"Production\"}}"),
        .payload(
            "{\"notificationType\":\"TEST\",\"data\":{\"bundleId\":\"a\","
                + "\"environment\":\"Production\",\"appAppleId\":8}}"),
        .payload(
            "{\"notificationType\":\"EXTERNAL_PURCHASE_TOKEN\",\"externalPurchaseToken\":"
                + "{\"bundleId\":\"a\",\"externalPurchaseId\":\"SANDBOX_1\"}}"),
        .payload(
            "{\"notificationType\":\"EXTERNAL_PURCHASE_TOKEN\",\"externalPurchaseToken\":"
                + "{\"bundleId\":\"a\",\"appAppleId\":9,\"externalPurchaseId\":\"1\"}}"),
        .payload("{\(told),\"aud\":\"x\"}"),
        .payload("{\(told),\"aud\":[\"\"]}"),
        .payload("{\(told),\"aud\":true}"),
        .payload("{\(told),\"aud\":null}"),
        .payload("{\(told),\"aud\":\"\"}"),
        .payload("{\(told),\"aud\":[]}"),
        .payload("{\(told),\"aud\":{}}"),
        .payload("{\(told),\"aud\":false}"),
        .payload("{\(told),\"aud\":0}"),
        .payload("{\(told),\"exp\":1}"),
        .payload("{\(told),\"exp\":9999999999}"),
        .payload("{\(told),\"nbf\":9999999999}"),
        .payload("{\(told),\"iat\":9999999999}"),
        .payload("{\(told),\"sub\":7}"),
        .payload("{\(told),\"jti\":7}"),
        .payload("[]"),
        .payload("{}"),
        .payload("{"),
    ]
}

extension ChainRecipe {
    static func authorityIdentifier(_ bytes: [UInt8]) throws -> Certificate.Extension {
        try AuthorityKeyIdentifier(keyIdentifier: bytes[...]).makeCertificateExtension()
    }

    private static func identifiers(
        own: [UInt8]?, issuer: [UInt8]?
    ) -> [Certificate.Extension] {
        var all: [Certificate.Extension] = []
        if let issuer, let one = try? authorityIdentifier(issuer) { all.append(one) }
        if let own,
            let one = try? SubjectKeyIdentifier(keyIdentifier: own[...]).makeCertificateExtension()
        {
            all.append(one)
        }
        return all
    }

    /// What the strict mode of OpenSSL accepts.
    static var identified: ChainRecipe {
        var recipe = ChainRecipe()
        recipe.root.others = identifiers(own: [1], issuer: nil)
        recipe.intermediate.others = identifiers(own: [2], issuer: [1])
        recipe.leaf.others = identifiers(own: nil, issuer: [2])
        return recipe
    }

    /// A transaction of now under this chain.
    func signTransaction(_ chain: [[UInt8]]) throws -> String {
        try signer(chain).sign(Sample.transaction())
    }
}

/// `verify` tells what Apple's libraries say, so that it has to be right.
@Suite(.timeLimit(.minutes(5))) struct OpinionTests {
    private struct Case: Encodable {
        let name: String
        let jws: String
        let root: String
        let subject: String
        let environment: String
        let bundleId: String
        let appAppleId: Int64
    }

    /// Exceptions of the library's decoder of payloads, which no status has a
    /// word for: a field of another type. The proof before it held.
    private static let decoding: Set<String> = ["ClassValidationError", "ValueError", "TypeError"]

    @Test func `our model of Apple's library agrees with it, case by case`() async throws {
        let python =
            ProcessInfo.processInfo.environment["SHOPKEEPER_PYTHON"]
            ?? Command.packageRoot.appendingPathComponent(".venv/bin/python").path
        let script = Command.packageRoot.appendingPathComponent(
            "Tests/Peers/official_opinions.py"
        ).path
        var opinions: [String: OfficialOpinion] = [:]
        var cases: [Case] = []
        let wall = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        for one in OpinionCase.all {
            let (compact, root) = try one.make()
            let explanation = Explanation(
                signedJSON: compact, roots: { _ in [root] }, now: nil, wall: wall)
            let opinion = try #require(explanation.official)
            opinions[one.name] = opinion
            cases.append(Self.asked(one.name, compact, root, opinion))
        }
        #expect(opinions.count == cases.count, "two cases have one name")

        let outcome = try await Command.inFolder { folder in
            try JSONEncoder().encode(cases).write(to: folder.appendingPathComponent("cases.json"))
            return try await Command.run(python, [script, folder.path], in: folder)
        }
        try #require(outcome.status == 0, "the peer did not run: \(outcome.errors)")
        let told = try JSONDecoder().decode(
            [String: String].self, from: Data(outcome.output.utf8))

        #expect(told.count == cases.count && cases.count > 150)
        for (name, status) in told.sorted(by: { $0.key < $1.key }) {
            let ours = opinions[name]?.status
            let isDecoding =
                Self.decoding.contains(status) && (ours == .accepted || ours == .failure)
            let agrees = ours?.rawValue == status || isDecoding
            #expect(agrees, "\(name): \(status), and we say \(ours?.rawValue ?? "nothing")")
        }
        #expect(Set(told.values).isSuperset(of: ["OK", "INVALID_CHAIN_LENGTH"]))
    }

    private static func asked(
        _ name: String, _ compact: String, _ root: [UInt8], _ opinion: OfficialOpinion
    ) -> Case {
        let payload = (try? CompactJWS(compact, bytesMax: .max)).flatMap {
            (try? JSONSerialization.jsonObject(with: Data($0.payload))) as? [String: Any]
        }
        let parts = ["data", "summary", "externalPurchaseToken", "appData"]
        let object = parts.compactMap { payload?[$0] as? [String: Any] }.first ?? payload ?? [:]
        return Case(
            name: name, jws: compact, root: Data(root).base64EncodedString(),
            subject: opinion.subject.rawValue, environment: opinion.environment ?? "Sandbox",
            bundleId: object["bundleId"] as? String ?? Sample.bundleID.value,
            appAppleId: (object["appAppleId"] as? NSNumber)?.int64Value ?? 1)
    }

    @Test func `its words name the status, and for Xcode's data that no signature is checked`()
        throws
    {
        func words(_ json: String) throws -> String {
            let header = Tamper.header(certificates: try Tamper.certificates(SpoiltJWS.good()))
            let compact = try Sample.sign(header: header, payload: Array(json.utf8))
            return OfficialOpinion(
                compact, roots: [try Sample.authority().root], now: Sample.now
            ).words
        }

        #expect(
            try words(#"{"bundleId":"a","environment":"Sandbox"}"#)
                == "OK, given the same root, bundle id and environment")
        #expect(
            try words(#"{"environment":"Sandbox"}"#)
                == "INVALID_APP_IDENTIFIER: the payload does not name the app")
        #expect(
            try words(#"{"bundleId":"a","environment":"Moon"}"#)
                == "INVALID_ENVIRONMENT: the payload names no known environment")
        for environment in ["Xcode", "LocalTesting"] {
            let words = try words(#"{"bundleId":"a","environment":"\#(environment)"}"#)
            #expect(words.hasPrefix("OK in environment \(environment), where they check no"))
            #expect(words.hasSuffix("INVALID_ENVIRONMENT in any other"))
        }
        let forged = OfficialOpinion("a.b.c", roots: [], now: Sample.now)
        #expect(forged.words == "VERIFICATION_FAILURE")
    }

    @Test(
        arguments: [
            ("exp", 0, false), ("exp", 1, true), ("nbf", 0, true), ("nbf", 1, false),
        ])
    func `a web token's dates count to the second`(
        claim: String, offset: Int64, isAccepted: Bool
    ) throws {
        let seconds = Sample.now.milliseconds / 1000 + offset
        let header = Tamper.header(certificates: try Tamper.certificates(SpoiltJWS.good()))
        let json = #"{"bundleId":"a","environment":"Sandbox","\#(claim)":\#(seconds)}"#

        let opinion = OfficialOpinion(
            try Sample.sign(header: header, payload: Array(json.utf8)),
            roots: [try Sample.authority().root], now: Sample.now)

        #expect(opinion.status == (isAccepted ? .accepted : .failure))
    }
}
