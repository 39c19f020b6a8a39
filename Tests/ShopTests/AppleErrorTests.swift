// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage
import StoreWire
import Testing

@testable import Shop

/// Every error of Apple's server API, and a request that causes it.
@Suite(.timeLimit(.minutes(5))) struct AppleErrorTests {
    /// `{own}`: a transaction; `{paper}` a subscription; `{theirs}` what a family shares;
    /// `{app}` an app transaction; `{renewal}` a later transaction; `{free}`, whose period
    /// is free. `NONE` is another app's transaction, or one that never was: both are
    /// tried, and answered alike.
    static let table = #"""
        4000000 | order M-1
        4000000 | consume2 {own} {"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED","consumptionPercentage":100001}
        4000000 | extend {paper} []
        4000005 | history {own} revision=x
        4000005 | refunds {own} x
        4000005 | history {own} revision=a_007_1
        4000005 | history {own} revision=
        4000005 | history {own} revision=a_9000000_1
        4000005 | history {own} sort=DESCENDING&revision=d_9000000_1
        4000005 | history {own} revision=a_1_5_1_1
        4000005 | refunds {own} a_5_{own}
        4000006 | info x
        4000006 | info 0{own}
        4000006 | info +{own}
        4000006 | info 00000000000000000000000000
        4000006 | history -1
        4000006 | history 0{own}
        4000006 | statuses x
        4000006 | statuses 0{paper}
        4000006 | app x
        4000006 | finish x
        4000006 | finish 0{own}
        4000006 | token 0{paper} {uuid}
        4000006 | consume2 x {"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED"}
        4000006 | notifications {"startDate":{from},"endDate":{to},"transactionId":"x"}
        4000006 | notifications {"startDate":{from},"endDate":{to},"transactionId":"0{own}"}
        4000008 | refunds1 x
        4000008 | refunds1 0{own}
        4000008 | extend 0{paper} {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a"}
        4000008 | extend x {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a"}
        4000009 | extend {paper} {"extendByDays":91,"extendReasonCode":1,"requestIdentifier":"a"}
        4000009 | mass {"extendByDays":0,"extendReasonCode":1,"requestIdentifier":"{uuid}","productId":"news"}
        4000010 | extend {paper} {"extendByDays":1,"extendReasonCode":4,"requestIdentifier":"a"}
        4000011 | extend {paper} {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":""}
        4000011 | mass {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a","productId":"news"}
        4000011 | massStatus news x
        4000012 | notifications {"startDate":1000,"endDate":{to}}
        4000012 | notifications {"startDate":-9223372036854775808,"endDate":{to}}
        4000013 | notifications {"startDate":{to},"endDate":{from}}
        4000013 | history {own} startDate=5&endDate=5
        4000013 | history {own} startDate=9223372036854775807&endDate=5
        4000013 | notifications {"startDate":9223372036854775807,"endDate":{to}}
        4000014 | notifications {"startDate":{from},"endDate":{to}} x
        4000015 | notifications {"startDate":"x","endDate":{to}}
        4000015 | history {own} startDate=x
        4000015 | history {own} startDate=+5
        4000015 | history {own} startDate=
        4000015 | history {own} startDate=1.5
        4000015 | history {own} startDate=9223372036854775808
        4000015 | notifications {"startDate":1.5,"endDate":{to}}
        4000015 | notifications {"startDate":9223372036854775808,"endDate":{to}}
        4000015 | notifications {"startDate":"{from}","endDate":{to}}
        4000015 | notifications {"startDate":null,"endDate":{to}}
        4000016 | notifications {"startDate":{from}}
        4000016 | history {own} endDate=x
        4000016 | history {own} endDate=
        4000016 | history {own} endDate=99999999999999999999
        4000016 | notifications {"startDate":{from},"endDate":1e300}
        4000016 | notifications {"startDate":{from},"endDate":{to}.5}
        4000018 | notifications {"startDate":{from},"endDate":{to},"notificationType":""}
        4000018 | notifications {"startDate":{from},"endDate":{to},"notificationType":"TEST","notificationSubtype":"VOLUNTARY"}
        4000019 | notifications {"startDate":{from},"endDate":{to},"notificationType":"TEST","transactionId":"{own}"}
        4000020 | testStatus x
        4000021 | history {own} sort=x
        4000021 | history {own} sort=
        4000022 | history {own} productType=x
        4000022 | history {own} productType=
        4000023 | history {own} productId=
        4000023 | massStatus a/b {uuid}
        4000023 | mass {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"{uuid}","productId":"none"}
        4000024 | history {own} subscriptionGroupIdentifier=
        4000025 | history {own} excludeRevoked=x
        4000025 | history {own} excludeRevoked=
        4000026 | history {own} inAppOwnershipType=x
        4000026 | history {own} inAppOwnershipType=
        4000027 | mass {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"{uuid}","productId":"news","storefrontCountryCodes":[]}
        4000028 | mass {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"{uuid}","productId":"news","storefrontCountryCodes":["XXX"]}
        4000030 | history {own} revoked=x
        4000030 | history {own} revoked=
        4000031 | statuses {own} 6
        4000031 | statuses {own} +1
        4000032 | consume1 {own} accountTenure=8
        4000033 | consume1 {own} appAccountToken="x"
        4000034 | consume1 {own} consumptionStatus=4
        4000035 | consume1 {own} customerConsented=false
        4000035 | consume2 {own} {"customerConsented":false}
        4000036 | consume1 {own} deliveryStatus=6
        4000036 | consume2 {own} {"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"x"}
        4000037 | consume1 {own} lifetimeDollarsPurchased=8
        4000038 | consume1 {own} lifetimeDollarsRefunded=8
        4000039 | consume1 {own} platform=3
        4000040 | consume1 {own} playTime=8
        4000041 | consume1 {own} sampleContentProvided=1
        4000041 | consume2 {own} {"customerConsented":true}
        4000042 | consume1 {own} userStatus=5
        4000044 | consume1 {own} refundPreference=4
        4000044 | consume2 {own} {"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED","refundPreference":"x"}
        4000047 | consume1 {pro} userStatus=1
        4000048 | info {app}
        4000183 | token {paper} x
        4000185 | token {theirs} {uuid}
        4000185 | consume2 {theirs} {"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED"}
        4000187 | token {renewal} {uuid}
        4030004 | extend {free} {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a"}
        4030005 | extend {extended} {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"third"}
        4030007 | extend {theirs} {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a"}
        4040005 | refunds1 NONE
        4040005 | extend NONE {"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a"}
        4040007 | test
        4040008 | testStatus {uuid}_1000
        4040009 | massStatus news {uuid}
        4040010 | info NONE
        4040010 | history NONE
        4040010 | refunds NONE
        4040010 | statuses NONE
        4040010 | app NONE
        4040010 | finish NONE
        4040010 | token NONE {uuid}
        4040010 | consume1 NONE userStatus=1
        4040010 | consume2 NONE {"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED"}
        4040010 | notifications {"startDate":{from},"endDate":{to},"transactionId":"NONE"}
        """#

    /// What other tests cause: an app that a reset made new, limits, and faults.
    static let elsewhere: Set = [4_040_019, 4_290_000, 5_000_000, 5_000_001]

    @Test func `each error is caused by its request, with Apple's number and sentence`()
        async throws
    {
        let asker = try await AppleAsker()
        var seen: Set<Int> = Self.elsewhere
        for line in Self.table.split(separator: "\n") {
            let sides = line.split(separator: "|", maxSplits: 1).map {
                String($0).trimmingPrefix(" ")
            }
            let code = try #require(Int(sides[0].prefix(7)))
            let request = String(sides[1])
            for none in request.contains("NONE") ? [asker.strangers, asker.never] : [""] {
                let asked = request.replacingOccurrences(of: "NONE", with: none)
                let refusal = try await asker.refusal(of: asked)
                #expect(refusal?.response?.errorCode == code, "\(asked)")
                #expect(refusal?.status == code / 10_000, "\(asked)")
            }
            seen.insert(code)
        }
        let never = Set(AppleErrorResponse.neverCaused.map(\.errorCode))
        #expect(seen.isDisjoint(with: never))
        #expect(seen.union(never) == Set(AppleErrorResponse.all.map(\.errorCode)))
        #expect(Set(AppleErrorResponse.all.map(\.errorCode)).count == AppleErrorResponse.all.count)
    }

    /// A date in the future is allowed, however far away. What is given without a value is
    /// not the same as what is not given.
    @Test func `the last dates that numbers have are dates, and what is empty is refused`()
        async throws
    {
        let asker = try await AppleAsker()
        for request in [
            "history {own} endDate=9223372036854775807",
            "history {own} startDate=9223372036854775806&endDate=9223372036854775807",
            #"notifications {"startDate":{from},"endDate":9223372036854775807}"#,
        ] {
            let refusal = try await asker.refusal(of: request)
            #expect(refusal == nil, "\(request)")
        }
        let merchant = asker.merchant
        let own = try #require(asker.words["own"])
        let body = Array(
            "{\"startDate\":\(asker.words["from"] ?? ""),\"endDate\":\(asker.words["to"] ?? "")}"
                .utf8)
        let refused = [
            try await appleError { try await merchant.statuses(of: own, only: [""]) },
            try await appleError { try await merchant.refundHistory(of: own, revision: "") },
            try await appleError {
                try await merchant.notificationHistory(body, paginationToken: "")
            },
        ]
        #expect(refused == [4_000_031, 4_000_005, 4_000_014])
    }

    /// So the time of an answer does not reveal which ids exist. What is no id at all is
    /// answered without a look.
    @Test func `a refusal reads as much for an unknown id as for another app's`() async throws {
        let asker = try await AppleAsker()
        let counter = asker.world.places.counter
        var count = 0
        for line in Self.table.split(separator: "\n") where line.contains("NONE") {
            let request = line.split(separator: "|", maxSplits: 1)[1].trimmingPrefix(" ")
            var read: [[String]] = []
            for id in [asker.strangers, asker.never, "0" + asker.never] {
                counter.reset()
                let asked = request.replacingOccurrences(of: "NONE", with: id)
                #expect(try await asker.refusal(of: asked) != nil, "\(asked)")
                read.append(counter.statements)
            }
            #expect(read[0] == read[1] && !read[0].isEmpty, "\(request): \(read)")
            #expect(read[2].isEmpty, "\(request): \(read)")
            count += 1
        }
        #expect(count > 10)
    }

    @Test func `a customer who has not got the app has no app transaction`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let id = try await world.sell("pro", 1, try await world.session())
        let merchant = try await world.merchant()
        for storage in world.realm.clusters.all {
            try await storage.write {
                try $0.execute(Statement("test.forget", "DELETE FROM app_accounts"), [])
            }
        }

        let code = try await appleError { try await merchant.appTransaction(of: id) }

        #expect(code == 4_040_019)
    }
}
