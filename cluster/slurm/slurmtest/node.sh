#!/bin/bash
# Entry point of the containers: node.sh ctl|node. They end after an hour, whatever
# becomes of the test.
set -e
mkdir -p /run/munge /var/log/munge /var/lib/munge /var/spool/slurmctld /var/spool/slurmd /run/mysqld
chown munge:munge /run/munge /var/log/munge /var/lib/munge
chmod 755 /run/munge
chown mysql /run/mysqld
chown -R munge:munge /etc/munge
chmod 400 /etc/munge/munge.key
rm -f /run/*.pid /run/munge/* # of a container that was killed
# What another daemon is not yet ready for is tried again, for minutes on a busy machine.
until setpriv --reuid=munge --regid=munge --clear-groups /usr/sbin/munged; do sleep 1; done
# listening HOST PORT waits for a service.
listening() {
  for _ in $(seq 1 300); do
    (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null && return
    sleep 0.1
  done
}
case "$1" in
ctl)
  [ -d /var/lib/mysql/mysql ] || mariadb-install-db --user=mysql >/dev/null 2>&1
  mariadbd --user=mysql --innodb-flush-log-at-trx-commit=2 >/var/log/mariadbd.log 2>&1 &
  until mariadb -e 'select 1' >/dev/null 2>&1; do sleep 0.1; done
  install -m600 /slurmdbd.conf /etc/slurm/slurmdbd.conf
  until slurmdbd; do sleep 1; done
  listening ctl 6819
  exec timeout 3600 bash -c 'until slurmctld -D; do sleep 1; done'
  ;;
node)
  listening ctl 6817
  exec timeout 3600 bash -c 'until slurmd -D; do sleep 1; done'
  ;;
esac
