"""The same on Valkey: tests of other files, with another server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reference.redis import Server

from .test_equal import folder as folder
from .test_equal import test_any_history_on_one_server as test_any_history_on_one_server
from .test_equal import test_many_batches_under_way as test_many_batches_under_way
from .test_identity import test_lost_ids_are_put_back as test_lost_ids_are_put_back
from .test_index import (
    test_a_document_is_added_while_its_second_is_swept as test_a_document_is_added_while_its_second_is_swept,
)
from .test_index import (
    test_a_worker_that_died_holds_up_nobody_for_long as test_a_worker_that_died_holds_up_nobody_for_long,
)
from .test_index import (
    test_entries_that_a_failover_lost_are_put_back as test_entries_that_a_failover_lost_are_put_back,
)
from .test_index import test_export_and_import as test_export_and_import
from .test_index import test_many_workers_and_one_id as test_many_workers_and_one_id
from .test_index import test_time_to_live as test_time_to_live
from .test_many_copies import test_copies_change_and_are_removed as test_copies_change_and_are_removed
from .test_many_copies import test_workers_remove_copies_of_one_page as test_workers_remove_copies_of_one_page
from .test_single import (
    test_a_reply_is_lost_and_the_call_sent_again as test_a_reply_is_lost_and_the_call_sent_again,
)
from .test_single import test_round_trips as test_round_trips
from .test_single import test_the_script_is_short as test_the_script_is_short
from .test_single import test_workers_with_the_same_pages as test_workers_with_the_same_pages


@pytest.fixture(scope="module")
def server(valkey_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """In place of Redis."""
    made = Server(valkey_server, tmp_path_factory.mktemp("valkey")).start()
    yield made
    made.kill()


def test_it_is_valkey(server: Server) -> None:
    assert server.client().info("server")["server_name"] == "valkey"
