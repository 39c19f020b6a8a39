# SPDX-License-Identifier: Apache-2.0
"""Each rule passes over a store that is sound and finds what was spoilt by hand."""

import copy
import glob
import json
import os
import unittest

from proof import rules
from proof.facts import Evidence
from tests.sound import (
    CUSTOMER, bought, charged, heard, owed, purchase_row, redemption, signed, sound,
    transaction_row,
)


class RuleTests(unittest.TestCase):
    def setUp(self):
        self.evidence = sound()

    def broken(self, *names):
        """These rules now find something; without a name, none does."""
        found = set(rules.judge(self.evidence))
        self.assertEqual(found & set(names) if names else found, set(names))

    def finds(self, rule):
        self.assertTrue(list(rule(self.evidence)), rule.__name__)

    def test_a_sound_store_breaks_no_rule(self):
        self.broken()

    def test_nothing_at_all_breaks_no_rule(self):
        self.assertEqual(rules.judge(Evidence()), {})

    # purchases_exist_once

    def test_a_purchase_of_two_rows(self):
        self.evidence.purchases.append(purchase_row(transaction=101, revision=4))
        self.finds(rules.purchases_exist_once)

    def test_a_transaction_of_two_rows(self):
        self.evidence.transactions *= 2
        self.finds(rules.purchases_exist_once)

    def test_a_purchase_of_two_transactions(self):
        self.evidence.transactions.append(transaction_row(101))
        self.finds(rules.purchases_exist_once)

    def test_a_transaction_of_no_purchase(self):
        self.evidence.purchases.clear()
        self.finds(rules.purchases_exist_once)

    # acknowledged_purchases_are_there

    def test_a_sale_that_is_lost(self):
        self.evidence.purchases.clear()
        self.evidence.transactions.clear()
        self.finds(rules.acknowledged_purchases_are_there)

    def test_a_transaction_that_is_lost(self):
        self.evidence.transactions.clear()
        self.finds(rules.acknowledged_purchases_are_there)

    def test_a_sale_that_became_a_refusal(self):
        self.evidence.purchases[0]["state"] = "refused"
        self.finds(rules.acknowledged_purchases_are_there)

    def test_a_refusal_for_another_reason(self):
        self.evidence.heard = [bought(10, state="refused")]
        self.evidence.purchases = [purchase_row(state="refused", refusal="noProcessor")]
        self.finds(rules.acknowledged_purchases_are_there)

    def test_a_sale_under_another_number(self):
        self.evidence.heard[0]["signed"]["transactionId"] = "101"
        self.finds(rules.acknowledged_purchases_are_there)

    def test_a_sale_of_something_else(self):
        for name, value in (("productId", "gold"), ("quantity", 3), ("purchaseDate", 51)):
            self.evidence = sound()
            self.evidence.heard[0]["signed"][name] = value
            self.finds(rules.acknowledged_purchases_are_there)

    def test_a_sale_that_was_read_and_is_lost(self):
        read = {"isFinished": False, "revision": 4, "signed": signed(101)}
        self.evidence.heard[2]["items"].append(read)
        self.finds(rules.acknowledged_purchases_are_there)

    def test_a_sale_that_was_read_as_something_else(self):
        for name, value in (("productId", "gold"), ("quantity", 3), ("purchaseDate", 51)):
            self.evidence = sound()
            self.evidence.heard[2]["items"][0]["signed"][name] = value
            self.finds(rules.acknowledged_purchases_are_there)

    def test_a_sale_that_another_customer_read(self):
        self.evidence.heard[2]["customer"] = CUSTOMER + 1
        self.finds(rules.acknowledged_purchases_are_there)

    # nothing_is_sold_unasked

    def test_a_sale_that_nobody_asked_for(self):
        self.evidence.asked.clear()
        self.broken("nothing_is_sold_unasked")

    def test_a_sale_of_more_than_was_asked_for(self):
        self.evidence.asked[0]["asked"]["quantity"] = 1
        self.broken("nothing_is_sold_unasked")

    # purchase_ids_are_answered_one_way

    def test_a_purchase_id_answered_with_two_transactions(self):
        self.evidence.heard.append(bought(50, facts=signed(101)))
        self.finds(rules.purchase_ids_are_answered_one_way)

    def test_a_purchase_id_answered_with_two_dates(self):
        self.evidence.heard.append(bought(50, facts=signed(purchaseDate=51)))
        self.finds(rules.purchase_ids_are_answered_one_way)

    def test_a_purchase_id_sold_and_refused(self):
        self.evidence.heard.append(bought(50, state="refused"))
        self.finds(rules.purchase_ids_are_answered_one_way)

    def test_a_sale_that_is_open_again(self):
        self.evidence.heard.append(bought(50, state="authorising"))
        self.broken("purchase_ids_are_answered_one_way")

    def test_an_open_answer_that_was_asked_for_before_the_sale_is_none(self):
        self.evidence.heard.append(bought(50, state="authorising", asked_at=5))
        self.broken()

    # charges_and_transactions_pair

    def test_a_charge_that_bought_nothing(self):
        self.evidence.processor.append(charged("p2"))
        self.broken("charges_and_transactions_pair")

    def test_a_charge_given_back_needs_no_transaction(self):
        self.evidence.processor += [charged("p2"), charged("p2", "void")]
        self.broken()

    def test_a_sale_given_back(self):
        self.evidence.processor.append(charged("p1", "void"))
        self.broken("charges_and_transactions_pair")

    def test_a_purchase_charged_twice(self):
        self.evidence.processor *= 2
        self.broken("charges_and_transactions_pair")

    def test_a_sale_that_was_never_paid(self):
        self.evidence.processor.clear()
        self.broken("charges_and_transactions_pair")

    def test_a_sale_that_was_declined(self):
        self.evidence.processor[0]["state"] = "declined"
        self.broken("charges_and_transactions_pair")

    def test_another_sum(self):
        self.evidence.processor[0]["order"]["total"] = 990
        self.broken("charges_and_transactions_pair")

    def test_without_a_processor_nothing_is_charged(self):
        self.evidence.processor = None
        self.broken()

    def test_a_charge_key_names_the_history_that_was_deleted_before(self):
        self.evidence.purchases = [purchase_row(history_revision=2)]
        self.broken(
            "charges_and_transactions_pair", "sales_are_captured")
        self.evidence.processor = [charged("p1/2"), charged("p1/2", "capture")]
        self.broken()

    # finishes_stay

    def test_a_finish_that_was_forgotten(self):
        self.evidence.transactions[0]["finished_at"] = None
        self.broken("finishes_stay")

    def test_a_finished_transaction_that_came_back(self):
        self.evidence.heard[2]["items"][0]["isFinished"] = False
        self.broken("finishes_stay")

    def test_a_list_asked_for_before_the_finish_may_show_it_unfinished(self):
        self.evidence.heard[2]["items"][0]["isFinished"] = False
        self.evidence.heard[2]["asked_at"] = 15
        self.broken()

    # notifications_are_owed_once

    def test_a_sale_that_owes_nothing(self):
        self.evidence.outbox.clear()
        self.broken("notifications_are_owed_once")

    def test_a_sale_that_owes_two(self):
        self.evidence.outbox.append(owed(uuid="n2"))
        self.broken("notifications_are_owed_once")

    def test_a_notification_for_nothing(self):
        self.evidence.outbox.append(owed(999, uuid="n2"))
        self.broken("notifications_are_owed_once")

    def test_two_notifications_of_one_name(self):
        self.evidence.outbox.append(owed(None, notification_type="TEST"))
        self.broken("notifications_are_owed_once")

    # commits_have_their_own_revision

    def test_two_commits_in_one_place(self):
        other = purchase_row("p2", None, 3, state="refused", refusal="declined")
        self.evidence.purchases.append(other)
        self.broken("commits_have_their_own_revision")

    def ended_together(self, change, originals):
        """Two transactions that a commit has ended."""
        rows = [
            {"customer_id": 7, "transaction_id": 300 + place, "revision": 9,
             "original_transaction_id": original}
            for place, original in enumerate(originals)]
        event = {
            "customer_id": 7, "revision": 9,
            "body": json.dumps({"at": 1, "cause": "tester", "change": {change: {}}})}
        return list(rules.commits_have_their_own_revision(Evidence(
            customers=[{"customer_id": 7, "revision": 9}], transactions=rows,
            subscription_events=[event])))

    def test_two_periods_that_end_together(self):
        self.assertEqual(self.ended_together("expired", [300, 300]), [])
        self.assertTrue(self.ended_together("renewed", [300, 300]))
        self.assertTrue(self.ended_together("expired", [300, 301]))

    def test_a_commit_past_the_end_of_its_line(self):
        self.evidence.customers[0]["revision"] = 3
        self.broken("commits_have_their_own_revision")

    # followers_miss_nothing

    def test_a_follower_who_missed_the_last_change(self):
        self.evidence.heard[2]["items"][0]["revision"] = 3
        self.broken("followers_miss_nothing")

    def test_a_follower_who_never_heard(self):
        self.evidence.heard[2]["items"].clear()
        self.broken("followers_miss_nothing")

    # everything_asked_was_answered

    def test_a_purchase_without_an_answer(self):
        self.evidence.asked.append(dict(self.evidence.asked[0], purchase="p2"))
        self.broken("everything_asked_was_answered")

    def test_a_purchase_left_half_done(self):
        half = purchase_row("p2", None, 2, state="authorising")
        self.evidence.purchases.append(half)
        self.broken("everything_asked_was_answered")

    def test_a_sum_still_owed(self):
        self.evidence.purchases[0]["void_owed_at"] = 1
        self.broken("everything_asked_was_answered")

    # other_contents_are_refused

    def test_other_contents_that_were_taken(self):
        self.evidence.heard.append(heard("other contents", 50, purchase="p1"))
        self.broken("other_contents_are_refused")

    def test_other_contents_that_were_refused(self):
        answer = {"code": "purchaseIdReused"}
        self.evidence.heard.append(
            heard("other contents", 50, purchase="p1", status=409, answer=answer))
        self.broken()

    def test_other_contents_of_nobody_signed_in(self):
        answer = {"code": "sessionUnknown"}
        self.evidence.heard.append(
            heard("other contents", 50, purchase="p1", status=401, answer=answer))
        self.broken()

    # purchases_are_redeemed_once

    def test_a_sale_that_cannot_be_redeemed(self):
        self.evidence.ledger_redemptions.clear()
        self.broken("purchases_are_redeemed_once")

    def test_a_sale_redeemed_too_little(self):
        self.evidence.ledger_redemptions.pop()
        self.evidence.heard.pop()
        self.broken("purchases_are_redeemed_once")

    def test_a_unit_redeemed_twice(self):
        self.evidence.ledger_redemptions.append(redemption("k3", 2))
        self.broken("purchases_are_redeemed_once")

    def test_a_redemption_done_twice(self):
        self.evidence.ledger_redemptions.append(
            redemption("k1", 1, transaction_id="101"))
        self.broken("purchases_are_redeemed_once")

    def test_a_transaction_that_stands_twice_in_the_ledger(self):
        self.evidence.ledger_purchases *= 2
        self.broken("purchases_are_redeemed_once")

    def test_a_redemption_told_two_ways(self):
        self.evidence.heard.append(
            heard("redeem", 50, transaction="101", idempotency_key="k1", answer={"unit": 1}))
        self.broken("purchases_are_redeemed_once")

    def test_a_unit_told_redeemed_under_two_keys(self):
        self.evidence.heard.append(
            heard("redeem", 50, transaction="100", idempotency_key="k3", answer={"unit": 2}))
        self.broken("purchases_are_redeemed_once")

    def test_a_redemption_acknowledged_and_lost(self):
        self.evidence.ledger_redemptions[1]["idempotency_key"] = "k3"
        self.broken("purchases_are_redeemed_once")

    def test_a_transaction_spent_beyond_its_end(self):
        self.evidence.heard.append(
            heard("overspend", 50, transaction="100", idempotency_key="k2", answer={"unit": 2}))
        self.broken("purchases_are_redeemed_once")

    # approvals_are_answered_one_way

    def approval(self, word, **other):
        self.evidence.approvals.append(
            {"customer": CUSTOMER, "purchase": "p1", "word": word, "status": 200} | other)

    def test_a_payment_approved_and_declined(self):
        self.approval("declined")
        self.broken("approvals_are_answered_one_way")

    def test_a_payment_declined_and_sold(self):
        self.evidence.approvals.clear()
        self.approval("declined")
        self.broken("approvals_are_answered_one_way")

    def test_an_approval_of_what_is_not_there(self):
        self.approval("approved", purchase="p9")
        self.broken("approvals_are_answered_one_way")

    def test_a_second_answer_refused(self):
        self.approval("declined", status=409)
        self.broken()

    # All of them

    def test_every_rule_has_tests_here(self):
        text = ""
        for path in glob.glob(os.path.join(os.path.dirname(__file__), "test_*.py")):
            with open(path, encoding="utf-8") as file:
                text += file.read()
        for rule in rules.RULES:
            self.assertIn(f"# {rule.__name__}\n", text)

    def test_judging_changes_nothing(self):
        before = copy.deepcopy(self.evidence)
        rules.judge(self.evidence)
        self.assertEqual(self.evidence, before)


if __name__ == "__main__":
    unittest.main()
