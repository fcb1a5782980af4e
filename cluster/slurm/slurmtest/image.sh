#!/bin/sh
# image.sh makes the image of package slurmtest: Slurm 22.05 with accounting, from
# the packages of Debian 12. It needs mmdebstrap and Docker, and two minutes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mmdebstrap --variant=minbase --dpkgopt=force-unsafe-io \
  --include=slurmctld,slurmd,slurmdbd,slurm-client,munge,iproute2,procps,mariadb-server,mariadb-client \
  bookworm "$dir/slurm.tar"
docker import -c 'CMD ["bash"]' "$dir/slurm.tar" "${1:-local/slurm:bookworm}"
